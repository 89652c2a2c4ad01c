import { isLoopback, parseAddress } from '../../../domain/net/address.js';
import { cidrContains, parseCidr } from '../../../domain/net/cidr.js';
import { splitHostPort } from '../../../domain/net/listen-address.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A destination as NO_PROXY matches it. */
interface Destination {
  /** Lower case, without brackets. */
  readonly host: string;
  readonly port: string;
}

/**
 * The proxy for a server according to the environment, as in Go's `http.ProxyFromEnvironment`: HTTPS_PROXY or HTTP_PROXY by
 * the server's scheme, or the same in lower case, unless NO_PROXY excludes it. `localhost` and loopback addresses are never
 * reached through a proxy. Undefined: no proxy.
 */
export function environmentProxy(server: URL, environment: Environment = process.env): string | undefined {
  const lookUp = (name: string): string => environment[name] || environment[name.toLowerCase()] || '';
  const secure = server.protocol === 'https:';
  const proxy = proxyUrl(lookUp(secure ? 'HTTPS_PROXY' : 'HTTP_PROXY'));
  const destination = {
    host: server.hostname.toLowerCase().replace(/^\[|\]$/g, ''),
    port: server.port || (secure ? '443' : '80'),
  };
  return proxy && isProxied(destination, lookUp('NO_PROXY')) ? proxy : undefined;
}

/** A proxy without a scheme uses HTTP. Text that is not a URL means no proxy, as in Go. */
function proxyUrl(text: string): string | undefined {
  if (text === '') return undefined;
  if (URL.canParse(text) && new URL(text).hostname !== '') return text;
  return URL.canParse(`http://${text}`) ? `http://${text}` : undefined;
}

function isProxied(destination: Destination, exclusions: string): boolean {
  const address = parseAddress(destination.host);
  if (destination.host === 'localhost' || (address && isLoopback(address))) return false;
  return !exclusions
    .split(',')
    .map((exclusion) => exclusion.trim().toLowerCase())
    .some((exclusion) => excludes(exclusion, destination));
}

/** `*`, a CIDR, an address, or a domain with its subdomains; a leading dot matches only subdomains. All but CIDRs may have a port. */
function excludes(exclusion: string, { host, port }: Destination): boolean {
  if (exclusion === '*') return true;
  const address = parseAddress(host);
  const cidr = parseCidr(exclusion);
  if (cidr) return address !== undefined && cidrContains(cidr, address.text);
  const { host: excluded, port: excludedPort } = splitHostPort(exclusion) ?? { host: exclusion, port: '' };
  if (excluded === '' || (excludedPort && excludedPort !== port)) return false;
  const excludedAddress = parseAddress(excluded);
  if (excludedAddress) return excludedAddress.text === address?.text;
  const domain = excluded.replace(/^\*\./, '.');
  return domain.startsWith('.') ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
}
