# SPDX-License-Identifier: Apache-2.0
"""What can be learnt from a release by someone who also knows the method. No method is imported: it is handed over."""
