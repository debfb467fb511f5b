// The sentences of the page for teaching that are made of several texts.

import {locale, words} from "./language.js";

export const kNone = "_other";  // the label of what is none of the classes

export const kUnknown = "unknown";  // the label of what is like nothing that a model was taught

// Of a state or a prediction.
export const stateText = (label) => label === kUnknown ? words.unknown : label;

export const labelText = (label) =>
  label === kNone ? words.noneOfThem : stateText(label) || words.notToldYet;

const kList = new Intl.ListFormat(locale);

// "open", "closed" and "half"
export const joined = (names) => kList.format(names);

const kMinute = {hour: "2-digit", minute: "2-digit", hourCycle: "h23"};
const kSecond = {...kMinute, second: "2-digit"};
const kDay = {weekday: "short", day: "numeric", month: "short"};
const dateFormat = (options) => new Intl.DateTimeFormat(locale, options);
const kWhen = dateFormat({...kDay, ...kMinute});
const kWhenExactly = dateFormat({...kDay, ...kSecond});
const kClock = dateFormat(kMinute);
const kClockExactly = dateFormat(kSecond);

export const when = (time) => kWhen.format(new Date(time));

const kWholeDay = dateFormat({dateStyle: "full"});
export const dayText = (time) => kWholeDay.format(time);

const kWeekday = dateFormat({weekday: "short"});
export const shortDayText = (date) => `${kWeekday.format(date)} ${date.getDate()}`;

const kSomeDays = dateFormat({...kDay, year: "numeric"});
export const daysText = (first, last) => kSomeDays.formatRange(first, last);

export const clockText = (time) => kClock.format(new Date(time));

// A duration, in one unit.
export function lasting(seconds) {
  if (seconds < 120) return `${Math.floor(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return words.days(Math.floor(seconds / 86400));
}

// A duration, in days and hours, or hours and minutes, where it has such.
export function longText(time) {
  const seconds = Math.round(time);
  if (seconds < 3600) return lasting(seconds);
  const isDays = seconds >= 172800;
  const hours = Math.floor(seconds / 3600);
  const [whole, rest, unit] = isDays ? [lasting(seconds), hours % 24, "h"] :
      [`${hours} h`, Math.floor(seconds / 60) % 60, "min"];
  return rest > 0 ? [whole, rest, unit].join(" ") : whole;
}

// From when to when, in seconds since 1970. It may have begun before `midnight`.
export function rangeText({at, to}, midnight) {
  const begin = (at < midnight ? kWhen : kClock).format(new Date(at * 1000));
  return `${begin} – ${clockText(to * 1000)}`;
}

// From when to when a state lasted, in seconds since 1970. `isBefore`: it began before the day that
// is looked at. `until` null: it still lasted at `known`; `isOver`: it is not the present one.
// `isExact`: with seconds.
export function spanText({at, until, known, isOver, isBefore}, isExact) {
  const begin = new Date(at * 1000);
  const end = until === null ? null : new Date(until * 1000);
  const isShown = isExact || (end && kWhen.format(begin) === kWhen.format(end));
  const [clock, dated] = isShown ? [kClockExactly, kWhenExactly] : [kClock, kWhen];
  const from = (isBefore ? dated : clock).format(begin);
  const long = longText(Math.max(0, (until ?? known) - at)).replaceAll(" ", "\u00a0");
  if (!end) return isOver ? words.lastedLonger(from, long) : words.lastsSince(from, long);
  const last = begin.toDateString() === end.toDateString() ? clock : dated;
  return words.lasted(from, last.format(end), long);
}

export const titleOf = ({name, title}) => title || name;

export const wholePercent = (share) => `${Math.round(share * 100)} %`;

// Of an element of `missing`.
export function missingText({kind, label, count}) {
  const shown = labelText(label);
  switch (kind) {
    case "occasion":
      return words.missingOccasion(shown);
    case "day":
      return label ? words.missingDayOf(shown) : words.missingDay;
    case "night":
      return label ? words.missingNightOf(shown) : words.missingNight;
    case "hours":
      return words.missingHours(shown);
    default:
      return label ? words.morePicturesOf(count, shown) : words.morePictures(count);
  }
}

// In words, for those who do not see the strip.
export function hoursText({label, pictures, night, hours}) {
  if (pictures === 0) return words.noPicturesOfHours(labelText(label));
  const begins = [...hours].sort((a, b) => a - b).map((hour) => words.hour(hour));
  return words.picturesOfHours(labelText(label), lightText({pictures, night}), joined(begins));
}

export function lightText({pictures, night}) {
  if (pictures === 0) return words.noPictureOfLight;
  if (night === 0) return words.byDayAlone;
  return night === pictures ? words.atNightAlone : words.dayAndNight(pictures - night, night);
}

// Of a model's {right, of}.
export const rightText = ({right, of}) => words.rightOf(right, of);

const kRough = .25;  // from the low end of an interval to the high one

export function intervalText({right, of, interval}) {
  const share = of > 0 ? wholePercent(right / of) : "";
  if (!interval) return words.shareAlone(share);
  const [low, high] = interval;
  const text = words.shareLikely(share, wholePercent(low), wholePercent(high));
  return high - low > kRough ? words.shareIsRough(text) : text;
}

// Of a training; `seconds` null: it cannot be told yet. Rounded up, so that it changes seldom.
export function leftText(seconds) {
  if (seconds === null) return "–";
  if (seconds > 90) return words.minutesLeft(Math.ceil(seconds / 60));
  const step = seconds > 20 ? 5 : 1;
  return words.secondsLeft(Math.ceil(seconds / step) * step);
}

export const stepText = (step) => words.steps[step] ?? words.training;

// A name for a watch with that title, which none of `taken` is.
export function nameFor(title, taken) {
  const plain = title.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  const base = plain.replace(/[^a-z0-9]+/g, "-").slice(0, 28).replace(/^-+|-+$/g, "") || "watch";
  let name = base;
  for (let i = 2; taken.has(name); ++i) name = `${base}-${i}`;
  return name;
}
