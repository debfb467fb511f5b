// A picture as large as the screen allows.

import {$, put} from "./elements.js";

export function zoomPicture(source, text) {
  $("zoomed").src = source;
  put("zoom-text", text);
  $("zoom").showModal();
}

// Of what is taught.
export const zoom = (number, text) => zoomPicture(`api/1/teach/pictures/${number}.jpg`, text);
