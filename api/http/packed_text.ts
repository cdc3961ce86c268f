/** Texts that are served unchanged: compressed once, with entity tags. @module */

import { eTag, ifNoneMatch } from "@std/http/etag";
import type { Context } from "hono";
import { send } from "./send.ts";

/** A body and its entity tag. */
interface Packed {
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

/**
 * A text that many requests receive. Clients that accept gzip get it
 * compressed; clients that have it get 304. Both forms are made at the first
 * request that needs them.
 */
export class PackedText {
  /** The text. */
  readonly text: string;
  #plain: Promise<Packed> | undefined;
  #gzipped: Promise<Packed> | undefined;

  /** Creates it without any work. */
  constructor(text: string) {
    this.text = text;
  }

  /**
   * Sends the text. Browsers ask again each time and get 304 if nothing has
   * changed.
   *
   * @param headers Further headers.
   * @throws {SigError} `overloaded`, as {@linkcode send} does.
   */
  async send(
    c: Context,
    type: string,
    headers: readonly (readonly [string, string])[] = [],
  ): Promise<Response> {
    const isGzip = acceptsGzip(c.req.header("accept-encoding") ?? "");
    const { body, etag } =
      await (isGzip
        ? this.#gzipped ??= gzip(this.text).then(tagged)
        : this.#plain ??= tagged(this.text));
    const all: (readonly [string, string])[] = [
      ...headers,
      ["cache-control", "no-cache"],
      ["vary", "accept-encoding"],
      ["etag", etag],
    ];
    if (!ifNoneMatch(c.req.header("if-none-match") ?? null, etag)) {
      const response = new Response(null, { status: 304 });
      for (const [name, value] of all) response.headers.append(name, value);
      response.headers.set("content-type", type);
      return response;
    }
    if (isGzip) all.push(["content-encoding", "gzip"]);
    return send(c, body, type, { headers: all });
  }
}

/** Whether a client accepts gzip (RFC 9110 §12.5.3). */
function acceptsGzip(accepted: string): boolean {
  return accepted.toLowerCase().split(",").some((each) => {
    const [coding, ...parameters] = each.split(";").map((it) => it.trim());
    return coding === "gzip" &&
      !parameters.some((it) => /^q=0(\.0*)?$/.test(it));
  });
}

async function tagged(body: Packed["body"]): Promise<Packed> {
  return { body, etag: await eTag(body) ?? "" };
}

async function gzip(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const body = new Blob([text]).stream()
    .pipeThrough(new CompressionStream("gzip"));
  return await new Response(body).bytes();
}
