/** A wire to a server that a test can cut behind a command of its choice. */

/** The wire. */
interface CuttingProxy {
  readonly port: number;
  /**
   * The next command with this text reaches the server; then `cut` is called,
   * and nothing comes back any more.
   */
  arm(text: string, cut: () => void): void;
  close(): Promise<void>;
}

/** Lays it on loopback. */
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
          // The server has done it, and the client will never know.
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
        // The stream has closed it.
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
          // It is closed.
        }
      }
    },
  };
}

async function writeAll(to: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}
