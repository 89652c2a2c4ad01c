import type { JSX } from 'preact';
import {
  acceptedSourcesText,
  outcomeWords,
  portStatusText,
  portWords,
} from '../../../../../application/words.js';
import type { FamilyExplanation, PortExplanation } from '../../../../../application/explain/explanation.js';
import { markOf } from '../../parts/mark-kind.js';
import { Mark } from '../../parts/mark.js';
import { Panel } from '../../parts/panel.js';
import { clockTime, span } from '../../parts/time.js';
import { hrefOf } from '../../place.js';
import { EndpointGrid } from './endpoint-grid.js';
import { inOrder, type Arrivals } from './endpoint-order.js';
import { ServiceDrawing } from './service-drawing.js';
import { frontendAddress } from './words.js';

interface PortProps {
  readonly family: FamilyExplanation['family'];
  readonly port: PortExplanation;
  /** When it was explained, in milliseconds since the epoch. */
  readonly at: number | undefined;
  readonly arrivals: Arrivals;
}

/** One service port: its state and why, its drawing, and the same as a list. */
export function PortPanel({ family, port: explained, at, arrivals }: PortProps): JSX.Element {
  const port = { ...explained, endpoints: inOrder(explained.endpoints, arrivals) };
  const name = `${portWords(port)}, ${family}`;
  const { status, affinitySeconds, sourceRanges, findings } = port;
  const mark = markOf(status.state);
  return (
    <Panel title={name} at={at}>
      <p class={`verdict small ${mark}`}>
        <Mark kind={mark} /> {portStatusText(status, clockTime)}
      </p>
      <ul class="lines">
        {findings.map(({ text, isFault }) => (
          <li key={text} class={isFault ? 'bad' : ''}>
            {isFault && <Mark kind="bad" />} {text}
          </li>
        ))}
        {affinitySeconds > 0 && <li>clients stay with their endpoint for {span(affinitySeconds * 1_000)}</li>}
        {sourceRanges.length > 0 && <li>{acceptedSourcesText(sourceRanges)}</li>}
      </ul>
      <ServiceDrawing
        port={port}
        arrivals={arrivals}
        label={`Drawing of port ${name}: ${port.frontends.length} frontends, ${port.endpoints.length} endpoints. The list below it says the same.`}
      />
      <details>
        <summary>As a list</summary>
        <Frontends port={port} />
        <h3>Endpoints</h3>
        {port.endpoints.length === 0 && <p>none</p>}
        {port.endpoints.length > 0 && (
          <EndpointGrid
            name={`endpoints ${name}`.replace(/\W+/g, '-')}
            endpoints={port.endpoints}
            arrivals={arrivals}
          />
        )}
      </details>
    </Panel>
  );
}

function Frontends({ port: { frontends, protocol } }: Pick<PortProps, 'port'>): JSX.Element {
  return (
    <>
      <h3>Frontends</h3>
      <ul class="lines">
        {frontends.map((frontend) => {
          const { kind, policy, address, port } = frontend;
          const to = address === undefined ? '' : `${frontendAddress(frontend)}/${protocol.toLowerCase()}`;
          return (
            <li key={`${address} ${port}`}>
              <code>{frontendAddress(frontend)}</code> {kind} ({policy}): {outcomeWords(frontend)}{' '}
              {to !== '' && (
                <a
                  href={hrefOf({ view: 'trace', from: 'node', to, kernel: false })}
                  aria-label={`Trace to ${to}`}
                >
                  trace
                </a>
              )}
            </li>
          );
        })}
      </ul>
    </>
  );
}
