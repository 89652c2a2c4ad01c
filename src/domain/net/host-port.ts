import { flatText } from '../model/flat-text.js';

/** `ip:port`, with brackets around IPv6, as kube-proxy prints and sorts endpoints. */
export function hostPort(address: string, port: number): string {
  const text = String(port);
  return address.includes(':') ? flatText('[', address, ']:', text) : flatText(address, ':', text);
}
