// The sentences of the page for teaching.

export const kNone = "_other";  // the label of what is none of the classes

export const labelText = (label) => label === kNone ? "none of them" : label || "not told yet";

export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

// "open", "closed" and "half"
export function joined(words, last = "and") {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

const kWhen = {weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit",
               hour12: false};

export const when = (time) => new Date(time).toLocaleString([], kWhen);

export const titleOf = ({name, title}) => title || name;

export const wholePercent = (share) => `${Math.round(share * 100)} %`;

// Of an element of `missing`.
export function missingText({kind, label, count}) {
  const of = label ? ` of “${labelText(label)}”` : "";
  switch (kind) {
    case "pictures":
      return `${count} more ${count === 1 ? "picture" : "pictures"}${of}`;
    case "occasion":
      return `“${labelText(label)}” once more, after something else was shown or 5 minutes passed`;
    case "day":
      return `a picture${of} by day`;
    case "night":
      return `a picture${of} at night`;
    case "hours":
      return `“${labelText(label)}” at an hour at which the others were shown, too: or the model ` +
          "may learn the light instead";
    default:
      return `more pictures${of}`;
  }
}

// Of an hour's number, as 14.
const hourText = (hour) => `${hour}:00`;

// In words, for those who do not see the strip.
export function hoursText({label, pictures, night, hours}) {
  if (pictures === 0) return `${labelText(label)}: no picture yet`;
  return `${labelText(label)}: ${lightText({pictures, night})}, in the hours from ` +
      joined([...hours].sort((a, b) => a - b).map(hourText));
}

export function lightText({pictures, night}) {
  if (pictures === 0) return "no picture yet";
  if (night === 0) return "by day alone";
  return night === pictures ? "at night alone" : `${pictures - night} by day, ${night} at night`;
}

// Of a model's {right, of}.
export const rightText = ({right, of}) => `${right} of ${of}`;

export function intervalText({right, of, interval}) {
  const share = of > 0 ? wholePercent(right / of) : "";
  if (!interval) return share;
  const [low, high] = interval.map(wholePercent);
  return `${share}, likely between ${low} and ${high}`;
}

const kSteps = {
  pictures: "Looking at the pictures",
  folds: "Testing it on pictures that it has not seen",
  model: "Making the model",
};

export const stepText = (step) => kSteps[step] ?? "Training";

// A name for a watch with that title, which none of `taken` is.
export function nameFor(title, taken) {
  const plain = title.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  const base = plain.replace(/[^a-z0-9]+/g, "-").slice(0, 28).replace(/^-+|-+$/g, "") || "watch";
  let name = base;
  for (let i = 2; taken.has(name); ++i) name = `${base}-${i}`;
  return name;
}
