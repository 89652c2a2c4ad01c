import type { JSX } from 'preact';
import { hrefOf } from '../place.js';
import { portWords } from '../../../../application/words.js';
import { readServicePort } from './service-port.js';

/** A service port, by its key, with a link to its Service. */
export function PortLink({ port: key }: { readonly port: string }): JSX.Element {
  const port = readServicePort(key);
  if (!port) return <>{key}</>;
  const { namespace, name } = port;
  return (
    <>
      <a href={hrefOf({ view: 'service', namespace, name })}>{`${namespace}/${name}`}</a> {portWords(port)}
    </>
  );
}
