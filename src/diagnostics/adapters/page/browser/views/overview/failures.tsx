import type { JSX } from 'preact';
import { watchWords } from '../../../../../application/words.js';
import type { ProxyStatus, WatchStatus } from '../../../../../application/status/proxy-status.js';
import { Lines, MOST, moreThanShown } from '../../parts/lines.js';
import { Mark } from '../../parts/mark.js';
import { Panel } from '../../parts/panel.js';
import { PortLink } from '../../parts/port-link.js';
import { Table } from '../../parts/table.js';
import { clockTime, counted } from '../../parts/time.js';
import { hrefOf } from '../../place.js';

/** What failed, what cannot be done here, what is ignored, and what has not been heard. Each part is there only if there is something in it. */
export function Failures({ status }: { readonly status: ProxyStatus }): JSX.Element {
  const { warnings = [] } = status;
  return (
    <>
      <TroubledPorts title="Failed" ports={portsIn(status, 'failed')} />
      <TroubledPorts title="Degraded" ports={portsIn(status, 'degraded')} />
      <Part title="Warnings" isEmpty={warnings.length === 0}>
        <Lines lines={warnings} />
      </Part>
      <Part title={`Ignored objects (${status.ignored.length})`} isEmpty={status.ignored.length === 0}>
        <Lines lines={status.ignored} />
      </Part>
      <Part title="Watches" isEmpty={status.watches.length === 0}>
        <Watches watches={status.watches} />
      </Part>
      <Part title="Last errors" isEmpty={status.lastErrors.length === 0}>
        <Lines lines={status.lastErrors.map(({ at, text }) => `${clockTime(at)}  ${text}`)} />
      </Part>
    </>
  );
}

function portsIn({ families }: ProxyStatus, state: 'failed' | 'degraded') {
  return families.flatMap(({ family, [state]: ports }) => ports.map((port) => ({ family, ...port })));
}

interface TroubledProps {
  readonly title: string;
  readonly ports: ReturnType<typeof portsIn>;
}

function TroubledPorts({ title, ports }: TroubledProps): JSX.Element {
  return (
    <Part title={`${title} service ports (${ports.length})`} isEmpty={ports.length === 0}>
      <Table titles={['Service port', 'Since', 'Why']}>
        {ports.slice(0, MOST).map(({ family, key, since, reason }) => (
          <tr key={`${family} ${key}`}>
            <td>
              <PortLink port={key} /> <span class="quiet">{family}</span>
            </td>
            <td>{clockTime(since)}</td>
            <td class="words">{reason}</td>
          </tr>
        ))}
      </Table>
      {ports.length > MOST && (
        <p>
          {moreThanShown(ports.length)}:{' '}
          <a href={hrefOf({ view: 'services', search: '', show: 'failing' })}>services that fail</a>
        </p>
      )}
    </Part>
  );
}

function Part(props: { readonly isEmpty: boolean } & Parameters<typeof Panel>[0]): JSX.Element | null {
  return props.isEmpty ? null : <Panel {...props} />;
}

function Watches({ watches }: { readonly watches: readonly WatchStatus[] }): JSX.Element {
  return (
    <ul class="lines">
      {watches.map((watch) => (
        <li key={watch.kind}>
          <Mark kind={watch.connected ? 'good' : 'bad'} /> {watch.kind}: {watchWords(watch, counted)}
        </li>
      ))}
    </ul>
  );
}
