/** The views by the URL's fragment, which no server receives. @module */

/** What the explorer shows: the issuer itself, or one of its objects. */
const OBJECTS = ["person", "event", "events", "answer", "integrity"] as const;

/** A place in the explorer, with everything that decides what is shown. */
export interface Place {
  /**
   * The host of one of the server's issuers, or {@linkcode OWN_FILES}; empty:
   * the first issuer.
   */
  readonly source: string;
  readonly object: "issuer" | (typeof OBJECTS)[number];
  /** The DID of a person, the number of an event, or "". */
  readonly id: string;
  /** The clock (`at`, `as_of`), a question, and filters. */
  readonly query: URLSearchParams;
}

/** The current view. */
export type Route =
  | { readonly view: "sign-in"; readonly interaction: string | undefined }
  | { readonly view: "explore"; readonly place: Place }
  | {
    readonly view: "invitation";
    /** The invitation in the link, unchecked. */
    readonly text: string;
  }
  | {
    readonly view: "keys";
    /** Whether the way to another device is open. */
    readonly addsDevice: boolean;
  };

/** The source of documents that a person opened. */
export const OWN_FILES = "files";

/** Parses `location.hash`; the default view is the sign-in. */
export function readRoute(hash: string): Route {
  const [, path = "", query = ""] = /^#\/?([^?]*)\??(.*)$/s.exec(hash) ?? [];
  const [view, ...rest] = path.split("/");
  switch (view) {
    case "explore": {
      const [source = "", object, id = ""] = rest.map(decoded);
      return {
        view,
        place: {
          source,
          object: OBJECTS.find((each) => each === object) ?? "issuer",
          id,
          query: new URLSearchParams(query),
        },
      };
    }
    case "invitation":
      return { view, text: path.slice("invitation/".length) };
    case "keys":
      return { view, addsDevice: rest[0] === "device" };
    default:
      return {
        view: "sign-in",
        interaction: view === "sign-in" && rest[0] ? rest[0] : undefined,
      };
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the link to a place; an empty query is omitted. */
export function exploreLink(
  { source = "", object = "issuer", id = "", query }: Partial<Place> = {},
): string {
  const path = [source, ...object === "issuer" ? [] : [object], id]
    .map(encodeURIComponent).join("/").replace(/\/+$/, "");
  const text = query?.toString() ?? "";
  return `#/explore${path && `/${path}`}${text && `?${text}`}`;
}

/**
 * The moment of every view of the explorer: now (no member), what was true at
 * an instant, or what was known with a number of events (docs/protocol.md §5).
 */
export interface Clock {
  /** RFC 3339 UTC, unchecked. */
  readonly at?: string | undefined;
  /** A sequence number, or RFC 3339 UTC, unchecked. */
  readonly asOf?: string | undefined;
}

/** Returns the members of a query that hold the clock. */
export function clockQuery({ at, asOf }: Clock): URLSearchParams {
  return new URLSearchParams({
    ...(at === undefined ? {} : { at }),
    ...(asOf === undefined ? {} : { as_of: asOf }),
  });
}

/** A question to a feed, as in a link. */
export interface Question extends Clock {
  readonly subject: string;
  readonly require: readonly string[];
}

/** Returns the link to a question about an issuer. */
export function questionLink(
  source: string,
  { subject, require, ...clock }: Question,
): string {
  const query = new URLSearchParams([
    ["subject", subject],
    ...require.map((each) => ["require", each]),
    ...clockQuery(clock),
  ]);
  return exploreLink({ source, object: "answer", query });
}

/** Replaces the address without a history entry, and shows its view. */
export function replacePlace(link: string): void {
  history.replaceState(null, "", link);
  dispatchEvent(new Event("hashchange"));
}
