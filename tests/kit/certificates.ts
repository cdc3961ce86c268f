/** Temporary certificates for tests, made with openssl. @module */

import { runWell, tempFolder } from "./process.ts";

/** A server's certificate and key, with the authority that signed it. */
export interface TestCertificate {
  /** The authority as PEM, for clients to trust. */
  readonly authority: string;
  /** The server's certificate as PEM. */
  readonly cert: string;
  /** The server's private key as PEM. */
  readonly key: string;
}

/** Creates an authority and a certificate for one name, valid for some days. */
export async function makeCertificate(
  subjectAltName: string,
  { days = 2 }: { readonly days?: number } = {},
): Promise<TestCertificate> {
  await using folder = await tempFolder();
  const run = (command: string) =>
    runWell("openssl", command.split(" "), { cwd: folder.path });
  const ec = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
  await run(
    `req -x509 ${ec} -keyout ca.key -out ca.pem -subj /CN=test-authority -days ${days}`,
  );
  await run(`req ${ec} -keyout s.key -out s.csr -subj /CN=test-only`);
  await Deno.writeTextFile(
    `${folder.path}/ext`,
    `subjectAltName=${subjectAltName}\nbasicConstraints=CA:FALSE\n`,
  );
  await run(
    "x509 -req -in s.csr -CA ca.pem -CAkey ca.key -CAcreateserial " +
      `-out s.pem -days ${days} -extfile ext`,
  );
  const read = (name: string) => Deno.readTextFile(`${folder.path}/${name}`);
  return {
    authority: await read("ca.pem"),
    cert: await read("s.pem"),
    key: await read("s.key"),
  };
}
