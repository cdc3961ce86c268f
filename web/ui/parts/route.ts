/** The views, by the part of the address that no server sees. @module */

/** Where a person is. */
export type Route =
  | { readonly view: "sign-in"; readonly interaction: string | undefined }
  | {
    readonly view: "explore";
    /** Which of the server's issuers, if one is named. */
    readonly issuer: number | undefined;
    readonly query: URLSearchParams;
  }
  | {
    readonly view: "invitation";
    /** What stands in the link, whatever it is. */
    readonly text: string;
  }
  | { readonly view: "developers" }
  | { readonly view: "keys" };

/** Reads `location.hash`; whatever is unknown is the sign-in. */
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
    case "developers":
    case "keys":
      return { view };
    default:
      return {
        view: "sign-in",
        interaction: view === "sign-in" && rest ? rest : undefined,
      };
  }
}

/** A question, as a link holds it. */
export interface Asking {
  readonly subject: string;
  readonly require: readonly string[];
  readonly at?: string | undefined;
  readonly asOf?: string | undefined;
}

/** The place of a question about one of the server's issuers. */
export function askLink(issuer: number | undefined, asking: Asking): string {
  const query = new URLSearchParams({ tab: "ask", subject: asking.subject });
  for (const each of asking.require) query.append("require", each);
  if (asking.at !== undefined) query.set("at", asking.at);
  if (asking.asOf !== undefined) query.set("as_of", asking.asOf);
  return `#/explore${issuer === undefined ? "" : `/${issuer}`}?${query}`;
}

/** The question that a link holds; undefined where it holds none. */
export function readAsking(query: URLSearchParams): Asking | undefined {
  const subject = query.get("subject");
  if (subject === null) return undefined;
  return {
    subject,
    require: query.getAll("require"),
    at: query.get("at") ?? undefined,
    asOf: query.get("as_of") ?? undefined,
  };
}
