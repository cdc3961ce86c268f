/** Connections by Node's built-in modules, whose bytes come in small pieces. @module */

import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { loadBuiltin } from "@sig/jose/internal";
import type * as dns from "node:dns";
import type * as http from "node:http";
import type * as net from "node:net";
import type * as stream from "node:stream";
import type * as timers from "node:timers";
import type * as tls from "node:tls";

/** Holds 2,700 chunks of one byte; a body of 64 MiB takes 4,096 turns. */
const PIECE_BYTES = 16 * 1024;

/**
 * Stands before a socket and hands on what arrives piece by piece, with a turn
 * of the event loop after each, and only while more is wanted.
 *
 * Against a server that sends its body in chunks of one byte: a runtime reads
 * a socket until it is empty, half a mebibyte at a time, and makes an object
 * of every chunk in it before anybody can read one, say stop, or notice that
 * the time is up. (docs/protocol.md §10)
 */
export function paceSocket(
  { stream, timers }: Pick<NodeBuiltins, "stream" | "timers">,
  socket: Socket,
): Duplex {
  let wanted = Promise.withResolvers<void>();
  const paced: Duplex = new stream.Duplex({
    readableHighWaterMark: PIECE_BYTES,
    read: () => wanted.resolve(),
    write: (bytes, encoding, done) => void socket.write(bytes, encoding, done),
    final(done) {
      // After the other side's end there is nothing left to end.
      if (socket.writable) socket.end();
      done();
    },
    destroy(error, done) {
      wanted.resolve();
      socket.destroy();
      done(error);
    },
  });
  const handOn = async () => {
    for await (const bytes of socket as AsyncIterable<Uint8Array>) {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        wanted = Promise.withResolvers();
        if (!paced.push(bytes.subarray(at, at + PIECE_BYTES))) {
          await wanted.promise;
        }
        await new Promise((resolve) => timers.setImmediate(resolve));
        if (paced.destroyed) return;
      }
    }
    paced.push(null);
  };
  handOn().catch((error) => paced.destroy(error));
  return paced;
}

/** The modules that a pinned connection takes; undefined in browsers. */
export function loadNodeBuiltins() {
  if (loadBuiltin("node:http") === undefined) return undefined;
  return {
    dns: loadBuiltin("node:dns") as typeof dns,
    http: loadBuiltin("node:http") as typeof http,
    net: loadBuiltin("node:net") as typeof net,
    stream: loadBuiltin("node:stream") as typeof stream,
    timers: loadBuiltin("node:timers") as typeof timers,
    tls: loadBuiltin("node:tls") as typeof tls,
  };
}

/** What {@linkcode loadNodeBuiltins} returns. */
export type NodeBuiltins = NonNullable<ReturnType<typeof loadNodeBuiltins>>;
