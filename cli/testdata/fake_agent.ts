/** An ssh-agent on a real socket, with the responses of a test. @module */

/**
 * The response to a request, without its length; or the agent closes the
 * connection, or sends nothing.
 */
export type AgentAnswer = Uint8Array | "closes" | "is silent" | {
  /** Bytes to send without a length before closing. */
  readonly raw: Uint8Array;
};

/** Responds to a request, by its first byte: 11 lists keys, 13 signs. */
export type AgentBehaviour = (request: Uint8Array) => AgentAnswer;

/** Encodes a number of the agent protocol. */
export function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

/** Encodes a string of the agent protocol. */
export function string(value: Uint8Array | string): Uint8Array {
  const bytes = typeof value === "string"
    ? new TextEncoder().encode(value)
    : value;
  return join(uint32(bytes.length), bytes);
}

/** Concatenates bytes. */
export function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** Returns the response to type 11. */
export function listOf(...blobs: readonly Uint8Array[]): Uint8Array {
  const keys = blobs.map((blob) => join(string(blob), string("a comment")));
  return join(Uint8Array.of(12), uint32(blobs.length), ...keys);
}

/** Starts an agent, which listens until it is disposed. */
export function startFakeAgent(
  path: string,
  behave: AgentBehaviour,
): AsyncDisposable {
  const listener = Deno.listen({ transport: "unix", path });
  const open = new Set<Deno.Conn>();
  const serve = async (connection: Deno.Conn) => {
    open.add(connection);
    try {
      for (;;) {
        const length = new DataView((await read(connection, 4)).buffer);
        const answer = behave(await read(connection, length.getUint32(0)));
        if (answer === "is silent") continue;
        if (answer === "closes") return;
        if ("raw" in answer) return await write(connection, answer.raw);
        await write(connection, string(answer));
      }
    } catch {
      // The client closed the connection.
    } finally {
      if (open.delete(connection)) connection.close();
    }
  };
  const serving = (async () => {
    const all: Promise<void>[] = [];
    for await (const connection of listener) all.push(serve(connection));
    await Promise.all(all);
  })();
  return {
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const each of open) {
        open.delete(each);
        each.close();
      }
      await serving;
    },
  };
}

async function read(
  connection: Deno.Conn,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const count = await connection.read(bytes.subarray(at));
    if (count === null) throw new Error("the end");
    at += count;
  }
  return bytes;
}

async function write(
  connection: Deno.Conn,
  bytes: Uint8Array,
): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    at += await connection.write(bytes.subarray(at));
  }
}
