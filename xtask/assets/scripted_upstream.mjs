// Serves scripted answers in the wire formats of several vendors, for as long as somebody listens to us.
//
// usage: node scripted_upstream.mjs PACKAGE_FOLDER FIXTURES PORT          (0: any free port)
//
// PACKAGE_FOLDER is where `@copilotkit/aimock` is installed. One line `listening http://HOST:PORT` goes to standard
// output; everything else goes to standard error. The process ends when its standard input closes: a parent that dies
// in any way takes it along.

import { createRequire } from "node:module";
import { join } from "node:path";

const [folder, fixtures, port] = process.argv.slice(2);
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
process.stdin.on("error", () => process.exit(0));
console.log = console.error;

const { LLMock } = createRequire(join(folder, "package.json"))("@copilotkit/aimock");
const server = new LLMock({ host: "127.0.0.1", port: Number(port), logLevel: "warn", strict: true });
server.loadFixtureFile(fixtures);
const address = await server.start();
process.stdout.write(`listening ${address}\n`);
