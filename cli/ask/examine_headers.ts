/** What a doctor reads from the heads of answers. Judges only. @module */

import type { Probed } from "@sig/consumer";
import type { Finding } from "./finding.ts";
import { found } from "./found.ts";

/** A document's answer. */
export interface ServedHead {
  /** The path of its URL. */
  readonly path: string;
  /** The head. */
  readonly head: Pick<Probed, "header" | "certificateUntil">;
}

const DAY_MS = 86_400_000;
/** Authorities that renew by themselves do so a month before. */
const CERTIFICATE_DAYS = 21;
/** Longer than a revocation should stay unseen (INTERFACES, `--max-age`). */
const CACHE_SECONDS = 300;
/** The clock skew of PROTOCOL §8. */
const CLOCK_MS = 60_000;

function paths(heads: readonly ServedHead[]): string {
  return heads.map(({ path }) => path).join(", ");
}

/** Documents that pages of other origins can't read. */
export function corsFinding(heads: readonly ServedHead[]): readonly Finding[] {
  const without = heads.filter(({ head }) =>
    head.header("access-control-allow-origin")?.trim() !== "*"
  );
  if (without.length === 0) return [];
  return [found(
    "cors_missing",
    `${without.length} documents don't allow every origin`,
    paths(without),
  )];
}

/** Documents that are compressed for whoever accepts that. */
export function encodingFinding(
  heads: readonly ServedHead[],
): readonly Finding[] {
  const encoded = heads.filter(({ head }) => {
    const encoding = head.header("content-encoding")?.trim().toLowerCase();
    return encoding !== undefined && encoding !== "" && encoding !== "identity";
  });
  if (encoded.length === 0) return [];
  return [found(
    "compressed_on_request",
    `${encoded.length} documents are compressed where that is accepted`,
    paths(encoded),
  )];
}

/** Documents that a browser, or a proxy, takes for something else. */
export function sniffingFindings(
  heads: readonly ServedHead[],
): readonly Finding[] {
  const untyped = heads.filter(({ head }) =>
    (head.header("content-type") ?? "").trim() === ""
  );
  const sniffed = heads.filter(({ head }) =>
    head.header("x-content-type-options")?.trim().toLowerCase() !== "nosniff"
  );
  return [
    ...untyped.length === 0 ? [] : [found(
      "media_type_missing",
      `${untyped.length} documents have no content type`,
      paths(untyped),
    )],
    ...sniffed.length === 0 ? [] : [found(
      "sniffing_allowed",
      `${sniffed.length} documents let browsers guess what they are`,
      paths(sniffed),
    )],
  ];
}

/** Documents that caches keep for long, or for as long as they like. */
export function cacheFinding(
  heads: readonly ServedHead[],
  now: Date,
): readonly Finding[] {
  const lives = heads.map((each) => ({
    ...each,
    seconds: cachedSeconds(each.head, now),
  }));
  const long = lives.filter(({ seconds }) =>
    seconds !== undefined && seconds > CACHE_SECONDS
  );
  const unsaid = lives.filter(({ seconds }) => seconds === undefined);
  const longest = Math.max(...long.map(({ seconds }) => seconds ?? 0));
  return [
    ...long.length === 0 ? [] : [found(
      "cached_for_long",
      `${long.length} documents may be kept, for up to ${longest} s`,
      paths(long),
    )],
    ...unsaid.length === 0 ? [] : [found(
      "cache_unsaid",
      `${unsaid.length} documents don't say how long they may be kept`,
      paths(unsaid),
    )],
  ];
}

/**
 * For how many seconds a shared cache may answer unasked (RFC 9111 §4.2.1);
 * undefined where it may guess.
 */
function cachedSeconds(
  head: ServedHead["head"],
  now: Date,
): number | undefined {
  const directives = (head.header("cache-control") ?? "").toLowerCase()
    .split(",").map((each) => each.trim());
  if (directives.some((each) => /^(?:no-store|no-cache|private)$/.test(each))) {
    return 0;
  }
  for (const name of ["s-maxage", "max-age"]) {
    const life = directives.find((each) => each.startsWith(`${name}=`));
    const [seconds] = /\d+/.exec(life ?? "") ?? [];
    if (seconds !== undefined) return Number(seconds);
  }
  const expires = head.header("expires");
  if (expires === null) return undefined;
  const until = Date.parse(expires);
  // A malformed one, `0` above all, says that it is over (RFC 9111 §5.3).
  return Number.isNaN(until) ? 0 : (until - now.getTime()) / 1000;
}

/** A certificate that ends soon. */
export function certificateFinding(
  heads: readonly ServedHead[],
  now: Date,
): readonly Finding[] {
  const ends = heads.flatMap(({ head }) => head.certificateUntil ?? []);
  if (ends.length === 0) return [];
  const end = new Date(Math.min(...ends.map((each) => each.getTime())));
  const days = Math.floor((end.getTime() - now.getTime()) / DAY_MS);
  if (days >= CERTIFICATE_DAYS) return [];
  return [found(
    "certificate_expires",
    `the certificate ends in ${days} days, at ${end.toISOString()}`,
    "certificate",
  )];
}

/** A clock that is wrong: the server's, or this machine's. */
export function clockFinding(
  heads: readonly ServedHead[],
  now: Date,
): readonly Finding[] {
  // What a cache answers has the time at which the cache asked.
  const date = heads.filter(({ head }) => head.header("age") === null)
    .map(({ head }) => Date.parse(head.header("date") ?? ""))
    .find((each) => !Number.isNaN(each));
  if (date === undefined) return [];
  const apart = Math.round(Math.abs(date - now.getTime()) / 1000);
  if (apart * 1000 <= CLOCK_MS) return [];
  return [found(
    "clock_differs",
    `the server's clock and this one are ${apart} s apart`,
    "header date",
  )];
}
