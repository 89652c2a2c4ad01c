import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions } from 'node:https';

/** How long a proxy may take to reach the API server. Milliseconds. */
const PROXY_TIMEOUT = 10_000;

/** What of TLS a connection needs. */
export type Tls = Pick<AgentOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'>;

/** Keeps connections to a server, through a proxy if there is one: of HTTP, or of SOCKS. What most never need is loaded when it is. */
export async function agentFor(server: URL, proxy: string | undefined, tls: Tls): Promise<HttpAgent> {
  const options = Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
  if (proxy === undefined)
    return server.protocol === 'http:'
      ? new HttpAgent({ keepAlive: true })
      : new HttpsAgent({ keepAlive: true, ...options });
  const proxied = { ...options, timeout: PROXY_TIMEOUT };
  if (proxy.startsWith('socks')) {
    const { SocksProxyAgent } = await import('socks-proxy-agent');
    return new SocksProxyAgent(proxy, proxied);
  }
  const { HttpProxyAgent, HttpsProxyAgent } = await import('hpagent');
  return server.protocol === 'http:'
    ? new HttpProxyAgent({ ...proxied, proxy })
    : new HttpsProxyAgent({ ...proxied, proxy });
}
