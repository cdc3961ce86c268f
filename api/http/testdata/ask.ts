/** Sends requests to a service in memory and reads the responses. @module */

/** Answers requests. */
interface App {
  fetch(
    request: Request,
    info?: object,
  ): Response | Promise<Response>;
}

/** The parts of a response that tests check. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** The problem's code; undefined for other responses. */
  readonly code: unknown;
  /** The problem's detail. */
  readonly detail: unknown;
}

/** Sends a request and reads the response. */
export async function ask(
  app: App,
  path: string,
  init: RequestInit = {},
  info?: object,
): Promise<Answer> {
  const url = path.startsWith("/") ? `http://127.0.0.1${path}` : path;
  const response = await app.fetch(new Request(url, init), info);
  const body = await response.text();
  const { headers, status } = response;
  const isProblem = headers.get("content-type") === "application/problem+json";
  const problem = isProblem && body !== "" ? JSON.parse(body) : {};
  return { status, headers, body, code: problem.code, detail: problem.detail };
}

/** Creates a `POST` request of JSON. */
export function post(body: BodyInit, headers: HeadersInit = {}): RequestInit {
  const all = new Headers({ "content-type": "application/json" });
  new Headers(headers).forEach((value, name) => all.set(name, value));
  return { method: "POST", headers: all, body };
}
