/**
 * A gateway that queries the API (AuthZEN) before it forwards a request.
 *
 * It trusts `x-subject`, so only an authenticating proxy may reach it.
 *
 * @module
 */

import { hostsOf } from "@sig/api";

function setting(name: string): string {
  const value = Deno.env.get(name);
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

const port = Number(Deno.env.get("PORT") ?? 8000);
const upstream = new URL(setting("UPSTREAM"));
const decisionPoint = new URL(setting("DECISION_POINT"));
const issuer = setting("ISSUER");

/** The role that the request requires. */
function roleFor({ method }: Request): string {
  return method === "GET" || method === "HEAD" ? "review" : "deploy";
}

/** A missing answer is neither an allow nor a deny. */
async function decide(
  subject: string,
  role: string,
): Promise<boolean | undefined> {
  try {
    const response = await fetch(
      new URL("/access/v1/evaluation", decisionPoint),
      {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          subject: { type: "did", id: subject },
          action: { name: role },
          resource: { type: "issuer", id: issuer },
        }),
        signal: AbortSignal.timeout(5_000),
      },
    );
    const answer = await response.json();
    if (response.status === 200) return answer.decision === true;
    console.error(`no decision: ${response.status} ${answer.code}`);
  } catch (error) {
    console.error("no decision:", error);
  }
  return undefined;
}

Deno.serve({ hostname: "127.0.0.1", port }, async (request) => {
  // A malformed host, such as `a/admin#`, would change the path.
  if (hostsOf(request) === undefined) {
    return new Response("what host?\n", { status: 400 });
  }
  const subject = request.headers.get("x-subject");
  if (subject === null) return new Response("who are you?\n", { status: 401 });
  const decision = await decide(subject, roleFor(request));
  if (decision === undefined) {
    const headers = { "retry-after": "5" };
    return new Response("can't decide now\n", { status: 503, headers });
  }
  if (!decision) return new Response("denied\n", { status: 403 });
  const { pathname, search } = new URL(request.url);
  const target = new URL(upstream);
  // Set separately, so that no path can name another host.
  target.pathname = pathname;
  target.search = search;
  const headers = new Headers(request.headers);
  headers.delete("host");
  return await fetch(target, {
    method: request.method,
    headers,
    body: request.body,
    redirect: "manual",
  });
});
