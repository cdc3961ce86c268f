/** A response with its body. @module */

/** A response that was read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // deno-lint-ignore no-explicit-any -- answers of any shape are asserted on
  readonly body: any;
}

/** Reads a response; `body` is its JSON object, or undefined. */
export async function readAnswer(
  response: Response | Promise<Response>,
): Promise<Answer> {
  const { status, headers } = await response;
  const text = await (await response).text();
  const body = text.startsWith("{") ? JSON.parse(text) : undefined;
  return { status, headers, text, body };
}

/** Returns the SHA-256 of a text in base64url, by the platform. */
export async function sha256(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Buffer.from(digest).toString("base64url");
}
