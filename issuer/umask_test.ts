import { assertEquals } from "@std/assert";
import { HOST, modeOf, upsert, walk, withPlace } from "./testdata/support.ts";

// promise: No created file is writable by other users.

Deno.test("no file is writable for other users, even under umask 000", async () => {
  const before = Deno.umask(0);
  try {
    await withPlace(async (place, issuer) => {
      await issuer.append(upsert());
      await issuer.rotateKey({ kid: "key-2" });
      await issuer.append(upsert());
      await issuer.close();
      const folders = ["", "/.sig", "/.well-known", "/.well-known/sig"]
        .map((path) => `/issuer${path}`);
      const paths = [...walk(place.base), ...folders, "/keys", `/keys/${HOST}`];
      const isOpen = (path: string) =>
        (modeOf(place.base + path) & 0o022) !== 0;
      assertEquals(paths.filter(isOpen), []);
    });
  } finally {
    Deno.umask(before);
  }
});
