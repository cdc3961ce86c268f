/** Requests to a server over a real socket. @module */

/** The response of a server. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any -- tests look into it member by member
  readonly body: any;
}

/** Sends JSON, or no body, and parses the JSON response. */
export async function ask(
  url: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(
    url,
    body === undefined ? { headers } : {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    },
  );
  const { status } = response;
  return { status, headers: response.headers, body: await response.json() };
}

/** Returns the question whether a subject has the role `deploy`. */
export function mayDeploy(issuer: string, subject: string): unknown {
  return { issuer, subject, require: ["role=deploy"] };
}
