/**
 * A thief with the signing key, the web server, or both, against every reader
 * (SECURITY.md, "Recovery"). @module
 */

import { assertEquals } from "@std/assert";
import { createApp } from "@sig/api";
import { createIssuerSite } from "../cli/site/issuer_site.ts";
import { inWorkspace, type Workspace } from "../cli/testdata/workspace.ts";
import { serveLoopback } from "./kit/loopback.ts";

const HERE = { allowPrivate: true };

/** The readers, each asked whether Mallory may deploy. */
interface Readers {
  readonly of: Workspace;
  readonly host: string;
  readonly subject: string;
  readonly api: ReturnType<typeof createApp>;
}

/** Returns what each reader says: allow, deny, or the code of an error. */
async function answers({ of, host, subject, api }: Readers) {
  const about = `--require role=deploy --allow-insecure --format json`;
  const check = async (more: string) => {
    const ran = await of.sig(
      `check --sig ${host} --subject ${subject} ${about} ${more}`,
    );
    return ran.code === 2
      ? JSON.parse(ran.stderr).code
      : JSON.parse(ran.stdout).decision;
  };
  const response = await api.fetch(
    new Request("http://127.0.0.1/v1/check", {
      method: "POST",
      headers: { "content-type": "application/json", host: "127.0.0.1" },
      body: JSON.stringify({
        ...{ subject, require: ["role=deploy"], max_age_seconds: 0 },
        issuer: didOf(host),
      }),
    }),
  );
  const body = await response.json();
  const ssh = await of.sig(
    `ssh-keys ${host} --require role=deploy --allow-insecure --pins $D/ssh.db`,
  );
  const made = await of.sig(
    `evidence make --sig ${host} --subject ${subject} --require role=deploy --allow-insecure`,
  );
  return {
    first: await check("--no-pin"),
    feed: await check("--pins $D/feed.db --no-proof"),
    proof: await check("--pins $D/proof.db"),
    api: body.decision ?? body.code,
    ssh: ssh.code === 2
      ? /error: (\w+)/.exec(ssh.stderr)?.[1]
      : ssh.stdout.includes(subject)
      ? "allow"
      : "deny",
    evidence: made.code === 2
      ? /error: (\w+)/.exec(made.stderr)?.[1]
      : JSON.parse(made.stdout).answer.decision,
  };
}

const didOf = (host: string) => `did:web:${host.replace(":", "%3A")}`;

async function replace(of: Workspace, from: string, to: string) {
  await Deno.remove(of.path(to), { recursive: true }).catch(() => {});
  await of.copy(from, to);
}

Deno.test("a thief gains nothing at readers that remember, once the owner has recovered", async () => {
  await inWorkspace(async (of) => {
    await using server = serveLoopback(createIssuerSite(of.path("site")));
    const { host } = server;
    const publish = async (from = "acme") => await replace(of, from, "site");
    await of.ok(`init ${host} --dir $D/acme --allow-insecure`);
    await of.ok("key generate --out $D/mallory.jwk");
    const subject = (await of.ok("key did $D/mallory.jwk")).trim();
    await of.ok(
      "upsert --dir $D/acme --subject did:web:alice.example --type employee --role deploy",
    );
    await of.ok("recovery create --dir $D/acme --out $D/r1.jwk");
    await publish();
    const api = createApp({
      ...{ issuers: [didOf(host)], allowPrivate: true, now: () => new Date() },
      ...HERE,
    });
    const readers = { of, host, subject, api };
    const none = {
      ...{ first: "deny", feed: "deny", proof: "deny", api: "deny" },
      ...{ ssh: "deny", evidence: "deny" },
    };
    assertEquals(await answers(readers), none, "before");

    // The thief copies the key, and has the web server.
    await replace(of, "keys", "stolen");
    const asThief = { env: { SIG_KEYS_DIR: of.path("stolen") } };
    const grant = (id: string) =>
      `upsert --dir $D/thief --subject ${subject} --type employee --role deploy --relationship-id ${id}`;
    await replace(of, "site", "thief");
    await of.says(grant("r-1"), { ...asThief, code: 0 });
    await publish("thief");
    const all = {
      ...{ first: "allow", feed: "allow", proof: "allow", api: "allow" },
      ...{ ssh: "allow", evidence: "allow" },
    };
    assertEquals(await answers(readers), all, "key and server, no statement");

    // The owner brings the events back, recovers, and publishes.
    await of.says(
      `restore --dir $D/acme --from ${host} --allow-insecure`,
      { code: 0 },
    );
    await of.ok(
      "recover --dir $D/acme --recovery-key $D/r1.jwk --next $D/r2.jwk --stolen orgsign-1=1 --yes",
    );
    await publish();
    assertEquals(await answers(readers), none, "after the statement");
    for (const store of ["feed", "proof"]) {
      const shown = `pin show ${didOf(host)} --pins $D/${store}.db`;
      const { recovery } = await of.json(shown);
      assertEquals(recovery.statements, 1);
      await of.says(shown, { out: ", 1 statement\n" });
    }
    // Evidence carries the statements, and a mutated chain is faulty.
    const made = `evidence make --sig ${host} --subject ${subject}`;
    await of.says(
      `${made} --require role=deploy --allow-insecure --out $D/e.json`,
      { code: 1 },
    );
    await of.says("evidence verify $D/e.json --allow-insecure", {
      ...{ code: 0, out: "sound" },
    });
    await of.edit("e.json", (evidence) => {
      evidence.recovery.statements = [];
    });
    await of.says("evidence verify $D/e.json --allow-insecure", {
      ...{ code: 1, out: "its statements are not those of the checkpoint" },
    });

    // With the key and the server again: a further event of the stolen key.
    await replace(of, "acme", "thief");
    const sigJson = "thief/.well-known/sig.json";
    const genuine = await of.read(sigJson);
    await of.edit(sigJson, (metadata) => delete metadata.recovery);
    await of.says(`${grant("r-2")} --kid orgsign-1`, { ...asThief, code: 0 });
    const withdrawn = await of.read(sigJson);
    await of.write(sigJson, genuine);
    await publish("thief");
    assertEquals(await answers(readers), none, "a later event");
    // Readers have seen it, so the owner's feed must have it too.
    await of.says(
      `restore --dir $D/acme --from ${host} --allow-insecure`,
      { code: 0 },
    );

    // The statement is withdrawn: readers that remember it answer nothing.
    await of.write(sigJson, withdrawn);
    await publish("thief");
    const gone = await answers(readers);
    assertEquals(gone, {
      ...{ first: "allow", evidence: gone.evidence },
      ...{ feed: "recovery_contradicted", proof: "recovery_contradicted" },
      ...{ api: "recovery_contradicted", ssh: "recovery_contradicted" },
    }, "the statement withdrawn");

    // A commitment of the thief's own, with their own recovery key.
    await of.says("checkpoint --dir $D/thief --drop orgsign-2", {
      ...{ ...asThief, code: 0 },
    });
    await of.says("recovery create --dir $D/thief --out $D/t1.jwk", {
      ...{ ...asThief, code: 0 },
    });
    await publish("thief");
    const other = await answers(readers);
    assertEquals(
      [other.first, other.feed, other.proof, other.api, other.ssh],
      ["allow", ...Array.from({ length: 4 }, () => "recovery_contradicted")],
      "another commitment",
    );

    // The owner's documents again: answers resume, without an acknowledgement.
    await publish();
    assertEquals(await answers(readers), none, "the owner again");
  });
});
