// A reverse proxy with a certificate made for the test: the page by https, and the WebSocket of its rendezvous by wss.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export async function proxy(page) {
    const folder = mkdtempSync(join(tmpdir(), "rebout-proxy-"));
    const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(folder, name));
    execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1",
        "-keyout", key, "-out", cert], { stdio: "ignore" });
    const tls = { key: readFileSync(key), cert: readFileSync(cert) };
    rmSync(folder, { recursive: true });
    const text = await (await fetch(page)).text();
    const [, host, port] = /name="rebout-rendezvous" content="([^":]+):(\d+)"/.exec(text);
    const server = createServer(tls, async (request, response) => {
        const answer = await fetch(new URL(request.url, page));
        let body = Buffer.from(await answer.arrayBuffer());
        const kind = answer.headers.get("content-type");
        if (kind.startsWith("text/html")) {
            // A proxy at port 443 needs no such tag.
            const tag = 'name="rebout-websocket" content="';
            body = Buffer.from(String(body).replace(`${tag}"`, `${tag}wss://127.0.0.1:${server.address().port}/rebout"`));
        }
        response.writeHead(answer.status, { "content-type": kind });
        response.end(body);
    });
    server.on("upgrade", (request, socket, head) => {
        const behind = connect(Number(port), host, () => {
            const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
            behind.write(`GET ${request.url} HTTP/1.1\r\n${headers}\r\n`);
            behind.write(head);
            socket.pipe(behind).pipe(socket);
        });
        behind.on("error", () => socket.destroy());
        socket.on("error", () => behind.destroy());
    });
    await new Promise((open) => server.listen(0, "127.0.0.1", open));
    return { url: `https://127.0.0.1:${server.address().port}/`, close: () => { server.closeAllConnections(); server.close(); } };
}
