/** A proxy that a test can disconnect after a chosen command. */

/** The proxy. */
interface CuttingProxy {
  readonly port: number;
  /**
   * Forwards the next command with this text to the server, then calls `cut`
   * and returns no response.
   */
  arm(text: string, cut: () => void): void;
  close(): Promise<void>;
}

/** Starts the proxy on loopback. */
export function startCuttingProxy(target: number): CuttingProxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.TcpConn>();
  let armed: { readonly text: string; readonly cut: () => void } | undefined;
  const accepting = (async () => {
    for await (const near of listener) void carry(near);
  })();

  async function carry(near: Deno.TcpConn): Promise<void> {
    const far = await Deno.connect({ hostname: "127.0.0.1", port: target });
    open.add(near).add(far);
    let pending: (() => void) | undefined;
    await Promise.allSettled([
      (async () => {
        for await (const bytes of near.readable) {
          const found = armed;
          if (
            found !== undefined &&
            new TextDecoder().decode(bytes).includes(found.text)
          ) {
            armed = undefined;
            pending = found.cut;
          }
          await writeAll(far, bytes);
        }
      })(),
      (async () => {
        for await (const bytes of far.readable) {
          // The server has executed the command, but the client gets no
          // response.
          if (pending !== undefined) return pending();
          await writeAll(near, bytes);
        }
      })(),
    ]);
    for (const each of [near, far]) {
      open.delete(each);
      try {
        each.close();
      } catch {
        // The stream has closed the connection.
      }
    }
  }

  return {
    port: listener.addr.port,
    arm(text, cut) {
      armed = { text, cut };
    },
    async close() {
      listener.close();
      await accepting.catch(() => {});
      for (const each of open) {
        try {
          each.close();
        } catch {
          // The connection is closed.
        }
      }
    },
  };
}

async function writeAll(to: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}
