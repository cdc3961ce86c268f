/** Texts as browsers would rather have them. @module */

/** Whether a request takes gzip (RFC 9110 §12.5.3). */
export function takesGzip(request: Request): boolean {
  const accepted = request.headers.get("accept-encoding") ?? "";
  return accepted.toLowerCase().split(",").some((each) => {
    const [coding = "", ...parameters] = each.split(";").map((it) => it.trim());
    return coding === "gzip" &&
      !parameters.some((it) => /^q=0(\.0*)?$/.test(it));
  });
}

/** A text in UTF-8 and gzip (RFC 1952). */
export async function gzip(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const body = new Blob([text]).stream().pipeThrough(
    new CompressionStream("gzip"),
  );
  return await new Response(body).bytes();
}
