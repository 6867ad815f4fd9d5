// Times and numbers as people read them.

const UNITS = [["year", 31557600], ["month", 2629800], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** "3 days ago", with the whole moment beside it. */
export function ago(moment) {
  const seconds = (new Date(moment) - Date.now()) / 1000;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? [null, 1];
  return unit ? RELATIVE.format(Math.round(seconds / size), unit) : "just now";
}

/** A day as it is written everywhere: 2026-11-30. */
export const day = (moment) => (moment ? moment.slice(0, 10) : "");

/** Day and time of day, in the reader's zone. */
export const full = (moment) => new Date(moment).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

export const clock = (moment) => new Date(moment).toLocaleTimeString("en-GB");

/** "1 fact", "2 facts". */
export const many = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

export const percent = (share) => `${Math.round(share * 100)} %`;

/** "neighbour 0.12": why something scored as it did. */
export const reasons = (of) => Object.entries(of).map(([name, value]) => `${name} ${Number(value.toFixed(3))}`).join(" · ");
