/** Throw-away certificates for tests, made by openssl. @module */

/** Whether there is an openssl to make them. */
export function hasOpenssl(): boolean {
  try {
    return new Deno.Command("openssl", { args: ["version"] }).outputSync()
      .success;
  } catch {
    return false;
  }
}

/** A server's certificate with its key, and the authority that signed it. */
export interface TestCertificate {
  /** PEM of the authority, to be trusted by the client. */
  readonly authority: string;
  /** PEM of the server's certificate. */
  readonly cert: string;
  /** PEM of the server's key. */
  readonly key: string;
}

/** Makes an authority and a certificate for one name, valid for some days. */
export async function makeCertificate(
  subjectAltName: string,
  { days = 2 }: { readonly days?: number } = {},
): Promise<TestCertificate> {
  const folder = await Deno.makeTempDir();
  const run = async (command: string) => {
    const { success, stderr } = await new Deno.Command("openssl", {
      args: command.split(" "),
      cwd: folder,
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
  };
  const ec = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
  try {
    await run(
      `req -x509 ${ec} -keyout ca.key -out ca.pem -subj /CN=test-authority -days ${days}`,
    );
    await run(`req ${ec} -keyout s.key -out s.csr -subj /CN=test-only`);
    await Deno.writeTextFile(
      `${folder}/ext`,
      `subjectAltName=${subjectAltName}\nbasicConstraints=CA:FALSE\n`,
    );
    await run(
      "x509 -req -in s.csr -CA ca.pem -CAkey ca.key -CAcreateserial " +
        `-out s.pem -days ${days} -extfile ext`,
    );
    const read = (name: string) => Deno.readTextFile(`${folder}/${name}`);
    return {
      authority: await read("ca.pem"),
      cert: await read("s.pem"),
      key: await read("s.key"),
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
