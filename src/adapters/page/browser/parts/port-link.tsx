import type { JSX } from 'preact';
import { hrefOf } from '../place.js';

/** A service port (`shop/cart:http`) as a link to its Service. */
export function PortLink({ port }: { readonly port: string }): JSX.Element {
  const [, namespace = '', name = ''] = /^([^/]*)\/([^:/]*)/.exec(port) ?? [];
  return <a href={hrefOf({ view: 'service', namespace, name })}>{port}</a>;
}
