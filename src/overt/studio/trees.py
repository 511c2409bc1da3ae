# SPDX-License-Identifier: Apache-2.0
"""Trees: a hierarchy of categories as people edit it. Every edit gives a new tree, and refuses what would make none.

Inner nodes have labels, leaves are the column's values. A path names a node by the labels above it and its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from overt.errors import InvalidInput
from overt.hierarchy import Hierarchy

Path = tuple[str, ...]


@dataclass(frozen=True)
class TreeNode:
    """A value, or a label with nodes below it."""

    name: str
    below: tuple["TreeNode", ...] | None = None  # None: a value

    @property
    def is_value(self) -> bool:
        """Whether it is a value of the column."""
        return self.below is None

    @property
    def values(self) -> Iterator[str]:
        """The values below it, or itself."""
        if self.below is None:
            yield self.name
        else:
            for child in self.below:
                yield from child.values

    def child(self, name: str, *, is_value: bool) -> "TreeNode | None":
        """The node directly below with this name."""
        return next((one for one in self.below or () if one.name == name and one.is_value is is_value), None)


def flat_tree(values: Sequence[str]) -> TreeNode:
    """All values directly below the root."""
    return TreeNode("*", tuple(TreeNode(value) for value in values))


def tree_of(hierarchy: Hierarchy) -> TreeNode:
    """The tree of a hierarchy; nodes that a level only passes on stand once, and a missing value is left out."""
    leaves = len(hierarchy.leaves) - hierarchy.leaves.null_count()
    chains = [[str(hierarchy.labels[node]) for node in hierarchy.chain(leaf)] for leaf in range(leaves)]
    return TreeNode("*", _below([chain[::-1][1:] for chain in chains]))


def _below(paths: Sequence[Sequence[str]]) -> tuple[TreeNode, ...]:
    nodes: list[TreeNode] = []
    groups: dict[str, list[Sequence[str]]] = {}
    for path in paths:
        if len(path) == 1:
            nodes.append(TreeNode(path[0]))
        else:
            if path[0] not in groups:
                nodes.append(TreeNode(path[0], ()))
            groups.setdefault(path[0], []).append(path[1:])
    return tuple(node if node.is_value else TreeNode(node.name, _below(groups[node.name])) for node in nodes)


def tree_of_nested(nested: Mapping[str, Any]) -> TreeNode:
    """The tree that a recipe writes as tables in tables."""
    return TreeNode("*", tuple(_of_label(label, below) for label, below in nested.items()))


def _of_label(label: str, below: Any) -> TreeNode:
    if isinstance(below, Mapping):
        return TreeNode(label, tuple(_of_label(name, content) for name, content in below.items()))
    parts = below if isinstance(below, list | tuple) else [below]
    nodes: list[TreeNode] = []
    for part in parts:
        nodes += [_of_label(*item) for item in part.items()] if isinstance(part, Mapping) else [TreeNode(str(part))]
    if len(nodes) == 1 and nodes[0] == TreeNode(label):
        return nodes[0]  # a value that belongs to no group
    return TreeNode(label, tuple(nodes))


def nested_of(tree: TreeNode) -> dict[str, Any]:
    """The tree as a recipe writes it."""
    return {node.name: [node.name] if node.is_value else _content(node) for node in tree.below or ()}


def _content(node: TreeNode) -> Any:
    groups = {one.name: _content(one) for one in node.below or () if not one.is_value}
    values = [one.name for one in node.below or () if one.is_value]
    if not values:
        return groups
    return [*values, groups] if groups else values


def rows_of(tree: TreeNode) -> list[list[str]]:
    """The tree as lines of a hierarchy file: a value, its labels, the root."""
    return [[*reversed(path), "*"] for path in _paths(tree, ())]


def _paths(node: TreeNode, above: Path) -> Iterator[Path]:
    for child in node.below or ():
        if child.is_value:
            yield (*above, child.name)
        else:
            yield from _paths(child, (*above, child.name))


def wrap(tree: TreeNode, path: Path, label: str, *, is_value: bool) -> TreeNode:
    """A new label at the place of a node, with the node below it."""
    node = find(tree, path, is_value=is_value)
    return _replaced(tree, path, TreeNode(_checked(tree, label), (node,)), is_value=is_value)


def rename(tree: TreeNode, path: Path, label: str) -> TreeNode:
    """Give a label another name."""
    _require_label(path)
    node = find(tree, path, is_value=False)
    if label == node.name:
        return tree
    return _replaced(tree, path, replace(node, name=_checked(tree, label)))


def merge(tree: TreeNode, path: Path, into: Path) -> TreeNode:
    """Put everything below one label below another, and take the first away."""
    _require_label(path)
    node, target = find(tree, path, is_value=False), find(tree, into, is_value=False)
    if into[: len(path)] == path:
        raise InvalidInput(f"{path[-1]!r} cannot be merged into itself or what is below it; choose another label.")
    grown = _replaced(tree, into, replace(target, below=(*(target.below or ()), *(node.below or ()))))
    return _without_empty(_replaced(grown, path, None))


def move(tree: TreeNode, path: Path, into: Path, *, is_value: bool) -> TreeNode:
    """Put a node below another label; the root is the empty path."""
    _require_label(path)
    node = find(tree, path, is_value=is_value)
    if not is_value and into[: len(path)] == path:
        raise InvalidInput(f"{path[-1]!r} cannot be moved below itself; choose another label.")
    target = find(tree, into, is_value=False)
    if path[:-1] == into:
        return tree
    if any(one.name == node.name for one in target.below or ()):
        raise InvalidInput(f"There is {node.name!r} below that label already; rename one of the two first.")
    without = _replaced(tree, path, None, is_value=is_value)
    target = find(without, into, is_value=False)
    return _without_empty(_replaced(without, into, replace(target, below=(*(target.below or ()), node))))


def dissolve(tree: TreeNode, path: Path) -> TreeNode:
    """Take a label away; what was below it moves up."""
    _require_label(path)
    node, parent = find(tree, path, is_value=False), find(tree, path[:-1], is_value=False)
    below: list[TreeNode] = []
    for one in parent.below or ():
        below += list(node.below or ()) if one is node else [one]
    return _replaced(tree, path[:-1], replace(parent, below=tuple(below)))


def find(tree: TreeNode, path: Path, *, is_value: bool) -> TreeNode:
    """The node at a path; the root cannot be edited itself."""
    node: TreeNode | None = tree
    for n, name in enumerate(path):
        node = None if node is None else node.child(name, is_value=is_value and n == len(path) - 1)
    if node is None:
        raise InvalidInput("This part of the tree has changed; look at the page again.")
    return node


def _require_label(path: Path) -> None:
    if not path:
        raise InvalidInput("The whole tree cannot be changed like this; choose a part of it.")


def _checked(tree: TreeNode, label: str) -> str:
    label = label.strip()
    if not label or label == "*":
        raise InvalidInput("A label needs a name other than '*', which stands for everything.")
    if label in _names(tree):
        raise InvalidInput(f"There is {label!r} in this tree already; choose another name.")
    return label


def _names(node: TreeNode) -> set[str]:
    return {name for one in node.below or () for name in (one.name, *_names(one))}


def _replaced(tree: TreeNode, path: Path, node: TreeNode | None, *, is_value: bool = False) -> TreeNode:
    if not path:
        assert node is not None
        return node
    below = []
    for one in tree.below or ():
        is_last = len(path) == 1
        if one.name == path[0] and one.is_value is (is_value and is_last):
            new = node if is_last else _replaced(one, path[1:], node, is_value=is_value)
            below += [] if new is None else [new]
        else:
            below.append(one)
    return replace(tree, below=tuple(below))


def _without_empty(tree: TreeNode) -> TreeNode:
    """The tree without labels that nothing is below any more."""
    pruned = [one if one.is_value else _without_empty(one) for one in tree.below or ()]
    return replace(tree, below=tuple(one for one in pruned if one.is_value or one.below))
