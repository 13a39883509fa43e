// The gateway as a child process, on a free port.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Program } from "../harness.mjs";

const START_SECONDS = 60;
const END_SECONDS = 60;

/**
 * Starts the gateway, by default with the demo agent. Returns the address to open, the program, and a function that ends it. The
 * address contains the token that was generated at the start, if there is one.
 */
export async function startGateway(command, { options = [], variables = {} } = {}) {
  const cwd = await mkdtemp(path.join(tmpdir(), "page-cwd-"));
  const env = { GATEWAY_STORE: "none", ...process.env, ...variables };
  const program = new Program(command, ["--listen", "127.0.0.1:0", "--cwd", cwd, ...options], env);
  // The gateway ends with this program in any case.
  const end = () => program.child.kill();
  process.once("exit", end);
  const stop = async () => {
    try {
      return await program.stop(END_SECONDS);
    } finally {
      program.child.kill("SIGKILL");
      process.off("exit", end);
      await rm(cwd, { recursive: true, force: true });
    }
  };
  try {
    const [, listens, opens] = await program.said(/listening on (http:\/\/\S+)\n(?:open (http:\/\/\S+)\n)?/, START_SECONDS);
    return { url: opens ?? listens, stop, program };
  } catch (error) {
    await stop();
    throw error;
  }
}
