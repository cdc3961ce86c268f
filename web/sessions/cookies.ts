/** Cookies as the login sets and reads them. @module */

/** A cookie of the login's own host. */
export interface HostCookie {
  /** Its value in a request; undefined without it, and where there are two. */
  read(headers: Headers): string | undefined;
  /** The header that sets it, as a list of headers wants it. */
  set(value: string, maxAgeSeconds: number): readonly [string, string];
}

/**
 * The name of a cookie that several servers of one host may have: browsers send
 * it to every port, so one would take the other's place.
 */
export function nameAtPort(name: string, origin: string): string {
  const { port } = new URL(origin);
  return port === "" ? name : `${name}-${port}`;
}

/**
 * Makes a cookie that only this host gets, no script reads, and no form of
 * another site sends. On https its name begins with `__Host-`, so that no
 * neighbour under the same domain can set it; where two of the name come all the
 * same, neither is believed.
 */
export function hostCookie(name: string, isSecure: boolean): HostCookie {
  const full = isSecure ? `__Host-${name}` : name;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${
    isSecure ? "; Secure" : ""
  }`;
  return {
    read(headers) {
      let value: string | undefined;
      for (const pair of (headers.get("cookie") ?? "").split(";")) {
        const text = pair.trim();
        if (!text.startsWith(`${full}=`)) continue;
        if (value !== undefined) return undefined;
        value = text.slice(full.length + 1);
      }
      return value;
    },
    set: (value, maxAgeSeconds) => [
      "set-cookie",
      `${full}=${value}; Max-Age=${maxAgeSeconds}; ${attributes}`,
    ],
  };
}
