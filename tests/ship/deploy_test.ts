import { assertEquals, assertStringIncludes } from "@std/assert";
import { Person } from "../../web/testdata/independent_client.ts";
import { askJson } from "../kit/server_process.ts";
import {
  ALICE,
  mayDeploy,
  startLoopbackIssuer,
} from "./testdata/loopback_issuer.ts";
import { ROOT } from "../../tools/workspace.ts";
import {
  denoDir,
  type Ran,
  run,
  type StartedServer,
  startServer,
  tempFolder,
} from "../kit/process.ts";

const VARIABLES = "SIG_ISSUERS,SIG_TOKEN,SIG_AUDIENCES,SIG_REQUIRE,SIG_MAX_AGE";
const SHOP = "https://shop.example";
const DESK = "https://desk.example";

/** Part of the error for a private issuer. */
const REFUSED = "IP addresses, local names and a trailing dot are refused";

/**
 * Returns arguments of `deno serve` with the permissions of a deployment: no
 * disk, no processes, no system information. Its only settings are variables.
 */
function words(entry: string): string[] {
  const permissions = [
    "--allow-net",
    `--allow-env=${VARIABLES}`,
    "--no-prompt",
  ];
  const address = ["--host", "127.0.0.1", "--port", "0"];
  return ["serve", "--unstable-kv", ...permissions, ...address, entry];
}

/**
 * Creates a separate cache, which contains the platform's database, with shared
 * npm packages.
 */
async function emptyCache() {
  const folder = await tempFolder();
  await Deno.symlink(`${await denoDir()}/npm`, `${folder.path}/npm`);
  return folder;
}

interface Settings {
  readonly [name: `SIG_${string}`]: string;
}

function options(cache: string, settings: Settings) {
  return {
    cwd: ROOT,
    env: { ...settings, DENO_DIR: cache, NO_COLOR: "1" },
  };
}

function deploy(
  entry: string,
  cache: string,
  settings: Settings,
): Promise<StartedServer> {
  return startServer(Deno.execPath(), words(entry), options(cache, settings));
}

function deployBadly(
  entry: string,
  cache: string,
  settings: Settings,
): Promise<Ran> {
  return run(Deno.execPath(), words(entry), options(cache, settings));
}

Deno.test("the API runs with variables only, without a disk", async (t) => {
  await using cache = await emptyCache();
  const settings = {
    SIG_ISSUERS: "acme.example, did:web:corp.example",
    SIG_TOKEN: "not-a-secret",
    SIG_MAX_AGE: "5m",
  };
  await using api = await deploy("api/serve.ts", cache.path, settings);
  const url = `${api.origin}/v1/check`;
  const bearer = { authorization: "Bearer not-a-secret" };
  const codeOf = async (issuer: string) => {
    const { status, body } = await askJson(
      url,
      mayDeploy(issuer, ALICE),
      bearer,
    );
    return [status, body.code];
  };

  await t.step(
    "SIG_TOKEN is required, except for the health check",
    async () => {
      assertEquals(
        (await askJson(`${api.origin}/healthz`)).body.service,
        "sig-api",
      );
      const question = mayDeploy("acme.example", ALICE);
      for (const headers of [{}, { authorization: "Bearer guessed" }]) {
        const { status, body } = await askJson(url, question, headers);
        assertEquals([status, body.code], [401, "unauthorized"]);
      }
    },
  );

  await t.step("checks are allowed for SIG_ISSUERS only", async () => {
    // Names that never resolve: allowed, but the fetch fails.
    assertEquals(await codeOf("acme.example"), [502, "fetch_failed"]);
    assertEquals(await codeOf("corp.example"), [502, "fetch_failed"]);
    assertEquals(await codeOf("evil.example"), [403, "issuer_not_allowed"]);
  });

  await t.step(
    "an issuer on loopback is refused in checks and in SIG_ISSUERS",
    async () => {
      await using issuer = await startLoopbackIssuer();
      assertEquals(await codeOf(issuer.did), [403, "address_not_allowed"]);
      const { code, stderr } = await deployBadly("api/serve.ts", cache.path, {
        SIG_ISSUERS: `acme.example,${issuer.did}`,
      });
      assertEquals(code, 2);
      assertStringIncludes(stderr, REFUSED);
      assertEquals(issuer.requests(), 0);
    },
  );

  await t.step("SIG_MAX_AGE must be a duration", async () => {
    const { code, stderr } = await deployBadly("api/serve.ts", cache.path, {
      SIG_MAX_AGE: "soon",
    });
    assertEquals(code, 2);
    // The message alone, without a stack trace.
    assertEquals(
      stderr.trimEnd().split("\n").filter((line) =>
        !line.startsWith("  hint:")
      ),
      [
        "sig-api: invalid_request: Cannot run: SIG_MAX_AGE must be a number with ms, s, m, h or d",
      ],
    );
  });
});

Deno.test("the login runs with variables only, with challenges in KV", async (t) => {
  await using cache = await emptyCache();
  const settings = { SIG_AUDIENCES: `${SHOP},${DESK}` };
  await using first = await deploy("web/serve.ts", cache.path, settings);
  // A deployment has many processes, which share only the database.
  await using second = await deploy("web/serve.ts", cache.path, settings);
  const person = new Person();
  const create = (audience: string) =>
    askJson(`${first.origin}/v1/auth/challenge/create`, { audience });
  const verify = (server: StartedServer, attestation: string) =>
    askJson(`${server.origin}/v1/auth/attestation/verify`, { attestation });

  await t.step("the login serves its page", async () => {
    const page = await fetch(`${first.origin}/`);
    assertStringIncludes(await page.text(), "</html>");
  });

  await t.step("a login requires one of SIG_AUDIENCES", async () => {
    for (const audience of [SHOP, DESK]) {
      const { status, body } = await create(audience);
      assertEquals([status, body.audience], [200, audience]);
    }
    const { status, body } = await create("https://evil.example");
    assertEquals([status, body.code], [403, "audience_not_allowed"]);
  });

  await t.step(
    "a challenge of one process can be used once in another",
    async () => {
      const { body: challenge } = await create(DESK);
      const attestation = person.attest(challenge, Date.now());
      const { status, body } = await verify(second, attestation);
      assertEquals([status, body.subject], [200, person.did], body.detail);
      for (const server of [first, second]) {
        const { status, body } = await verify(server, attestation);
        assertEquals([status, body.code], [409, "challenge_used"]);
      }
    },
  );

  await t.step("SIG_AUDIENCES is required", async () => {
    const { code, stderr } = await deployBadly("web/serve.ts", cache.path, {});
    assertEquals(code, 2);
    assertStringIncludes(stderr, "SIG_WEB_AUDIENCE is required");
  });
});

Deno.test("a deployed login enforces SIG_REQUIRE, and accepts public issuers only", async () => {
  await using cache = await emptyCache();
  await using issuer = await startLoopbackIssuer();
  const person = new Person();
  const logIn = async (settings: Settings) => {
    await using web = await deploy("web/serve.ts", cache.path, {
      SIG_AUDIENCES: SHOP,
      SIG_REQUIRE: "relationship=employee, role=deploy",
      SIG_MAX_AGE: "0s",
      ...settings,
    });
    const auth = `${web.origin}/v1/auth`;
    const { body: challenge } = await askJson(`${auth}/challenge/create`, {});
    assertEquals(challenge.require, ["relationship=employee", "role=deploy"]);
    const { status, body } = await askJson(`${auth}/attestation/verify`, {
      attestation: person.attest(challenge, Date.now()),
    });
    return [status, body.code];
  };
  assertEquals(
    await logIn({ SIG_ISSUERS: "acme.example" }),
    [502, "fetch_failed"],
  );
  for (
    const [issuers, why] of [
      [issuer.did, REFUSED],
      ["acme.example,corp.example", "exactly one issuer must be named"],
    ] as const
  ) {
    const { code, stderr } = await deployBadly("web/serve.ts", cache.path, {
      SIG_AUDIENCES: SHOP,
      SIG_REQUIRE: "role=deploy",
      SIG_ISSUERS: issuers,
    });
    assertEquals(code, 2);
    assertStringIncludes(stderr, why);
  }
  assertEquals(issuer.requests(), 0);
});
