/** Texts that are served unchanged: compressed once, with entity tags. @module */

import { eTag, ifNoneMatch } from "@std/http/etag";
import type { Context } from "hono";
import { send } from "./send.ts";

/** A body and its entity tag. */
interface Packed {
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

/** A content coding of HTTP, and the format of the platform's stream. */
interface Coding {
  readonly name: string;
  readonly format: CompressionFormat;
  /** Maximum length of a text in characters: compressing takes time. */
  readonly maxLength: number;
}

const CODINGS: readonly Coding[] = [
  // Deno has it since 2.9; the type does not name it.
  { name: "br", format: "brotli" as CompressionFormat, maxLength: 1_000_000 },
  { name: "gzip", format: "gzip", maxLength: Infinity },
];

/**
 * A text that many requests receive. Clients that accept brotli or gzip get it
 * compressed; clients that have it get 304. Each form is made at the first
 * request that needs it.
 */
export class PackedText {
  /** The text. */
  readonly text: string;
  readonly #packed = new Map<string, Promise<Packed>>();

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
    const accepted = c.req.header("accept-encoding") ?? "";
    const coding = CODINGS.find((each) =>
      isSupported(each) && accepts(accepted, each.name) &&
      this.text.length <= each.maxLength
    );
    const name = coding?.name ?? "";
    const packed = this.#packed.get(name) ?? pack(this.text, coding);
    this.#packed.set(name, packed);
    const { body, etag } = await packed;
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
    if (coding !== undefined) all.push(["content-encoding", name]);
    return send(c, body, type, { headers: all });
  }
}

function isSupported({ format }: Coding): boolean {
  try {
    new CompressionStream(format);
    return true;
  } catch {
    return false;
  }
}

/** Whether a client accepts a coding (RFC 9110 §12.5.3). */
function accepts(accepted: string, name: string): boolean {
  return accepted.toLowerCase().split(",").some((each) => {
    const [coding, ...parameters] = each.split(";").map((it) => it.trim());
    return coding === name &&
      !parameters.some((it) => /^q=0(\.0*)?$/.test(it));
  });
}

async function pack(
  text: string,
  coding: Coding | undefined,
): Promise<Packed> {
  const body = coding === undefined ? text : await new Response(
    new Blob([text]).stream().pipeThrough(new CompressionStream(coding.format)),
  ).bytes();
  return { body, etag: await eTag(body) ?? "" };
}
