// A picture as large as the screen allows.

import {$, put} from "./elements.js";

export function zoom(number, text) {
  $("zoomed").src = `api/1/teach/pictures/${number}.jpg`;
  put("zoom-text", text);
  $("zoom").showModal();
}
