// A web site with the pages of other libraries. Its origin differs from that of the gateway.
import { createReadStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startGateway } from "../gateway.mjs";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

/** Serves the pages and their modules, and starts a gateway that permits their origin. */
export async function startSite(command) {
  const server = createServer((request, response) => {
    const file = path.normalize(path.join(FOLDER, new URL(request.url, "http://site").pathname));
    const isServed = ["pages", "built"].some((folder) => file.startsWith(path.join(FOLDER, folder) + path.sep));
    const stream = createReadStream(isServed ? file : "");
    stream.once("open", () => {
      response.writeHead(200, { "Content-Type": TYPES[path.extname(file)] ?? "application/octet-stream" });
      stream.pipe(response);
    });
    stream.once("error", () => response.writeHead(404).end());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  const scratch = await mkdtemp(path.join(tmpdir(), "page-site-"));
  const settings = path.join(scratch, "gateway.toml");
  await writeFile(settings, `permission = "ask-by-interrupt"\n[site]\norigins = [${JSON.stringify(url)}]\n`);
  const close = async () => {
    server.close();
    server.closeAllConnections();
    await rm(scratch, { recursive: true, force: true });
  };
  try {
    // The conversations are those of the gateway.
    const variables = { GATEWAY_STORE: path.join(scratch, "store.db") };
    const gateway = await startGateway(command, { options: ["--no-auth", "--config", settings], variables });
    const stop = async () => {
      await gateway.stop();
      await close();
    };
    return { url, gateway: gateway.url, stop, program: gateway.program };
  } catch (error) {
    await close();
    throw error;
  }
}
