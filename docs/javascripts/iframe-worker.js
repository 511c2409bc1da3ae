// SPDX-License-Identifier: Apache-2.0
// A browser starts no worker for a page that was opened as a file. The search wants one: here its script runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.document.open();
      inside.document.write("<!doctype html><title>Search</title><body></body>");
      inside.document.close();

      this.send = inside.postMessage.bind(inside); // what the script finds under this name is the way back
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));

      const script = inside.document.createElement("script");
      script.src = address;
      this.ready = new Promise((done) => script.addEventListener("load", done));
      inside.document.body.append(script);
    }

    postMessage(data) {
      this.ready.then(() => this.send(data, "*"));
    }
  };
}
