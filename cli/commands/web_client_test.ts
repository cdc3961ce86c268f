import { assert, assertEquals } from "@std/assert";
import { sig } from "../testdata/process.ts";
import { inWorkspace } from "../testdata/workspace.ts";

const ADD = "web client add --file $D/c.json --id wiki --redirect-uri";
const CALLBACK = "https://wiki.acme.example/callback";

Deno.test("web client add needs only file permissions, and shows the secret once", async () => {
  await inWorkspace(async (workspace) => {
    const permissions = ["--allow-read", "--allow-write"];
    const words = [...ADD.replace("$D/", "").split(" "), CALLBACK];
    const added = await sig([...words, "--format", "json"], {
      ...{ cwd: workspace.dir, permissions },
    });
    assertEquals([added.code, added.stderr], [0, ""]);
    const { client_id, client_secret } = JSON.parse(added.stdout);
    assertEquals(client_id, "wiki");
    assert(!(await workspace.read("c.json")).includes(client_secret));
    assertEquals(await workspace.mode("c.json"), 0o600);
    assertEquals(
      [...Deno.readDirSync(workspace.dir)].map(({ name }) => name),
      ["c.json"],
    );
  });
});
