// The gateway as a child process, on a free port.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

const START_MS = 60_000;
const END_MS = 10_000;

/**
 * Starts the gateway, by default with the demo agent. Returns the address to open, its log, and a function that ends it. The
 * address contains the token that was generated at the start, if there is one.
 */
export async function startGateway(command, { options = [], variables = {} } = {}) {
  const cwd = await mkdtemp(path.join(tmpdir(), "page-cwd-"));
  const child = spawn(command, ["--listen", "127.0.0.1:0", "--cwd", cwd, ...options], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { GATEWAY_STORE: "none", ...process.env, ...variables },
  });
  // The gateway ends with this program in any case.
  const end = () => child.kill();
  process.once("exit", end);
  const exited = new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal)));
  let log = "";
  const listening = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.stderr.setEncoding("utf8").on("data", (text) => {
      log += text;
      const found = /listening on (http:\/\/\S+)\n(?:open (http:\/\/\S+)\n)?/.exec(log);
      if (found) resolve(found[2] ?? found[1]);
    });
    exited.then((status) => reject(new Error(`the gateway ended with ${status}: ${log}`)));
    setTimeout(() => reject(new Error(`the gateway does not listen: ${log}`)), START_MS).unref();
  });
  const stop = async () => {
    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), END_MS);
    const status = await exited;
    clearTimeout(late);
    process.off("exit", end);
    await rm(cwd, { recursive: true, force: true });
    return status;
  };
  try {
    return { url: await listening, stop, log: () => log };
  } catch (error) {
    await stop();
    throw error;
  }
}
