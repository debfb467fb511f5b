// What the page's scripts share: how elements are made and filled, and how figures are written.

export const $ = (id) => document.getElementById(id);

// What shows the text already is not touched.
export function fill(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export const put = (id, text) => fill($(id), text);

export function create(tag, parent, text = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  parent.append(element);
  return element;
}

export const percent = (score) => `${(score * 100).toFixed(1)} %`;

export const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], {hour12: false});
