import { assertEquals } from "@std/assert";
import { upsert, withPlace } from "./testdata/support.ts";

function* walk(path: string): Generator<string> {
  yield path;
  for (const { isDirectory, name } of Deno.readDirSync(path)) {
    if (isDirectory) yield* walk(`${path}/${name}`);
    else yield `${path}/${name}`;
  }
}

Deno.test("nothing is writable for others, even where the umask takes nothing away", async () => {
  const before = Deno.umask(0);
  try {
    await withPlace(async (place) => {
      const issuer = await place.open();
      await issuer.append(upsert());
      await issuer.rotateKey({ kid: "key-2" });
      await issuer.append(upsert());
      await issuer.close();
      const open = [...walk(place.dir), ...walk(place.keysDir)].filter((path) =>
        ((Deno.statSync(path).mode ?? 0) & 0o022) !== 0
      );
      assertEquals(open, []);
    });
  } finally {
    Deno.umask(before);
  }
});
