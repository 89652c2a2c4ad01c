import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { healthCheckWords } from '../../../../../application/words/health-check-words.js';
import type { Explanation } from '../../../../../application/explain/explanation.js';
import type { History } from '../../../../../application/status/change-entry.js';
import type { ServiceRow } from '../../../../../application/status/service-row.js';
import { explanationOf, historyOf } from '../../asking/routes.js';
import { useChanges } from '../../asking/use-changes.js';
import { useFollowed } from '../../asking/use-followed.js';
import { Changes } from '../../parts/changes.js';
import { Mark } from '../../parts/mark.js';
import { Panel } from '../../parts/panel.js';
import { Trouble } from '../../parts/trouble.js';
import { hrefOf } from '../../place.js';
import { PortPanel } from './port-panel.js';
import { TrafficPanel } from './traffic-panel.js';

const AT_LEAST_EVERY = 5_000;
const RECENT = 50;

/** One Service: what the proxy does for it and why, its traffic, and what changed. */
export function ServiceView({ namespace, name }: Pick<ServiceRow, 'namespace' | 'name'>): JSX.Element {
  const changed = useChanges();
  const isServed = useRef(true);
  const pace = { period: AT_LEAST_EVERY, when: changed };
  const service = `${namespace}/${name}`;
  // For a Service that it does not serve, the proxy has to ask the API server.
  const explanation = useFollowed<Explanation>(
    explanationOf(namespace, name),
    isServed.current ? pace : { period: AT_LEAST_EVERY },
  );
  isServed.current = explanation.value?.known ?? true;
  const history = useFollowed<History>(historyOf(service), pace);
  return (
    <>
      <p class="back">
        <a href={hrefOf({ view: 'services', search: '', show: 'all' })}>All services</a>
      </p>
      <h1>
        <span class="namespace">{namespace}/</span>
        {name}
      </h1>
      <Trouble problem={explanation.problem} what="explanation" />
      {explanation.value && <Explained explanation={explanation.value} />}
      <TrafficPanel service={service} />
      <Panel id="history" title="What changed">
        <Trouble problem={history.problem} what="history" />
        {history.value && <Changes changes={history.value.changes.slice(-RECENT).reverse()} />}
      </Panel>
    </>
  );
}

function Explained({ explanation }: { readonly explanation: Explanation }): JSX.Element {
  const { known, unserved, problems, families } = explanation;
  return (
    <>
      {!known && (
        <p class="verdict off">
          <Mark kind="off" /> Not served: {unserved?.text ?? 'this proxy knows no such Service'}
        </p>
      )}
      {problems
        .filter((problem) => !unserved?.text.includes(problem))
        .map((problem) => (
          <p key={problem} class="verdict small bad">
            <Mark kind="bad" /> {problem}
          </p>
        ))}
      {families.flatMap(({ family, ports, absence, healthCheck }) => [
        ...ports.map((port) => (
          <PortPanel key={`${family} ${port.port} ${port.protocol}`} family={family} port={port} />
        )),
        ...(known && absence ? [<p key={family} class="quiet">{`${family}: ${absence.text}`}</p>] : []),
        ...(healthCheck
          ? [<p key={`${family} check`}>{`${family}: ${healthCheckWords(healthCheck)}`}</p>]
          : []),
      ])}
    </>
  );
}
