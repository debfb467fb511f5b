// The live picture: a stream, or snapshots where the server has as many viewers as it serves.

import {fill} from "./elements.js";
import {words} from "./language.js";

const kStillMs = 15000;  // without a change of the picture: then its stream is opened again
const kSnapshotMs = 2000;  // between snapshots
const kStreamAgainMs = 30000;  // of snapshots, before the stream is tried again

export class LivePicture {
  // `image` is in `figure`, whose class `blank` hides it. `caption` says what is wrong. `drawn` is
  // called when the image has loaded.
  constructor({image, figure, caption, drawn}) {
    Object.assign(this, {image, figure, caption, drawn});
    this.isOpen = false;
    this.timer = 0;
    this.number = 0;  // of the last request; makes each URL a new one, which is in no cache
    this.streams = false;
    this.before = "";  // its pixels when they were last compared
    this.moved = 0;  // performance.now() when they last differed
    this.until = 0;  // performance.now() when snapshots end
    image.addEventListener("load", () => this.loaded());
    image.addEventListener("error", () => this.failed());
  }

  open() {
    this.close();
    this.isOpen = this.streams = true;
    this.moved = performance.now();
    // Chromium shows a picture when it has the head of the next part.
    this.image.src = `stream?advance_headers=1&page=${++this.number}`;
    this.timer = setInterval(() => this.watch(), 3000);
  }

  close() {
    clearInterval(this.timer);
    this.isOpen = this.streams = false;
    this.image.removeAttribute("src");
  }

  loaded() {
    this.figure.classList.remove("blank");
    this.drawn();
    if (this.streams) {
      fill(this.caption, "");
    } else {
      this.timer = setTimeout(() => this.snapshot(), kSnapshotMs);
    }
  }

  // The server refuses the stream when it has as many viewers as it serves. Snapshots replace it.
  failed() {
    if (!this.isOpen) return;
    const refused = this.streams;
    clearInterval(this.timer);
    this.streams = false;
    if (refused) {
      this.until = performance.now() + kStreamAgainMs;
      fill(this.caption, words.tooManyViewers);
      this.snapshot();
    } else {
      this.figure.classList.add("blank");
      fill(this.caption, words.noPictureKeepsTrying);
      this.timer = setTimeout(() => this.open(), kSnapshotMs);
    }
  }

  snapshot() {
    if (performance.now() > this.until) {
      this.open();
    } else {
      this.image.src = `snapshot.jpg?page=${++this.number}`;
    }
  }

  // Browsers do not report that a stream has ended, so one that stands still is opened again. So is
  // one that a navigation inside of the page stopped.
  watch() {
    if (this.image.complete && this.image.naturalWidth === 0) {
      this.open();
      return;
    }
    const shown = this.sample();
    if (shown !== this.before) {
      this.before = shown;
      this.moved = performance.now();
    } else if (performance.now() - this.moved > kStillMs) {
      this.open();
    }
  }

  sample() {
    const canvas = document.createElement("canvas");
    canvas.width = 32;
    canvas.height = 24;
    const context = canvas.getContext("2d", {willReadFrequently: true});
    if (this.image.naturalWidth > 0) context.drawImage(this.image, 0, 0, 32, 24);
    return context.getImageData(0, 0, 32, 24).data.join();
  }
}
