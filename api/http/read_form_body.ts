/** A request's body as a form (SECURITY §2, §5). @module */

import { SigError } from "@sig/core";
import { readBody } from "./read_body.ts";
import type { JsonBodyLimits } from "./read_json_body.ts";

const FORM_TYPE =
  /^application\/x-www-form-urlencoded(?:[ \t]*;[ \t]*charset="?utf-8"?)?[ \t]*$/i;

/**
 * Reads the fields of a form, doubled ones too.
 *
 * @example
 * ```ts
 * import { readFormBody } from "./read_form_body.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const request = new Request("http://127.0.0.1/", {
 *   method: "POST",
 *   body: new URLSearchParams({ a: "1" }),
 * });
 * const limits = {
 *   maxBytes: 64,
 *   timeoutMs: 1_000,
 *   reserve() {},
 *   awaitBody: () => () => {},
 * };
 * assertEquals((await readFormBody(request, limits)).get("a"), "1");
 * ```
 *
 * @throws {SigError} `unsupported_media_type`, `invalid_request` for what is no
 * UTF-8, and what {@linkcode readBody} and `onArrival` throw.
 */
export async function readFormBody(
  request: Request,
  limits: JsonBodyLimits,
): Promise<URLSearchParams> {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (
    !FORM_TYPE.test(request.headers.get("content-type") ?? "") ||
    encoding.toLowerCase() !== "identity"
  ) {
    throw new SigError(
      "unsupported_media_type",
      "Cannot read body: it must be application/x-www-form-urlencoded in UTF-8",
      {
        context: {
          hint:
            "Send the header content-type: application/x-www-form-urlencoded, and no content-encoding.",
        },
      },
    );
  }
  const bytes = await readBody(request, limits);
  limits.onArrival?.();
  try {
    return new URLSearchParams(
      new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    );
  } catch {
    throw new SigError("invalid_request", "Cannot read body: it is no UTF-8");
  }
}
