/** The views by the URL's fragment, which no server receives. @module */

/** The current view. */
export type Route =
  | { readonly view: "sign-in"; readonly interaction: string | undefined }
  | {
    readonly view: "explore";
    /** The index of one of the server's issuers, if the URL names one. */
    readonly issuer: number | undefined;
    readonly query: URLSearchParams;
  }
  | {
    readonly view: "invitation";
    /** The invitation in the link, unchecked. */
    readonly text: string;
  }
  | { readonly view: "keys" };

/** Parses `location.hash`; the default view is the sign-in. */
export function readRoute(hash: string): Route {
  const [, path = "", query = ""] = /^#\/?([^?]*)\??(.*)$/s.exec(hash) ?? [];
  const [view, rest] = path.split("/");
  switch (view) {
    case "explore":
      return {
        view,
        issuer: /^\d{1,4}$/.test(rest ?? "") ? Number(rest) : undefined,
        query: new URLSearchParams(query),
      };
    case "invitation":
      return { view, text: path.slice("invitation/".length) };
    case "keys":
      return { view };
    default:
      return {
        view: "sign-in",
        interaction: view === "sign-in" && rest ? rest : undefined,
      };
  }
}

/** A question to a feed, as in a link. */
export interface Question {
  readonly subject: string;
  readonly require: readonly string[];
  readonly at?: string | undefined;
  readonly asOf?: string | undefined;
}

/**
 * Returns the link to the explorer, for one of the server's issuers if given.
 */
export function exploreLink(
  issuer?: number,
  query: Readonly<Record<string, string>> | URLSearchParams = {},
): string {
  const text = new URLSearchParams(query).toString();
  const path = issuer === undefined ? "" : `/${issuer}`;
  return `#/explore${path}${text && `?${text}`}`;
}

/** Returns the link to a question about one of the server's issuers. */
export function questionLink(
  issuer: number | undefined,
  { subject, require, at, asOf }: Question,
): string {
  const query = new URLSearchParams({ tab: "ask", subject });
  for (const each of require) query.append("require", each);
  if (at !== undefined) query.set("at", at);
  if (asOf !== undefined) query.set("as_of", asOf);
  return exploreLink(issuer, query);
}

/** Returns the question in a link, if there is one. */
export function readQuestion(query: URLSearchParams): Question | undefined {
  const subject = query.get("subject");
  if (subject === null) return undefined;
  return {
    subject,
    require: query.getAll("require"),
    at: query.get("at") ?? undefined,
    asOf: query.get("as_of") ?? undefined,
  };
}
