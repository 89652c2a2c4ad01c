import type { JSX } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { healthCheckWords } from '../../../../../application/words.js';
import type { Explanation } from '../../../../../application/explain/explanation.js';
import type { History } from '../../../../../../application/status/change-entry.js';
import type { ServiceRow } from '../../../../../application/status/service-row.js';
import { explanationOf, historyOf } from '../../asking/routes.js';
import { useChanges } from '../../asking/use-changes.js';
import { useFollowed } from '../../asking/use-followed.js';
import { Changes } from '../../parts/changes.js';
import { Mark } from '../../parts/mark.js';
import { Panel } from '../../parts/panel.js';
import { counted } from '../../parts/time.js';
import { Trouble } from '../../parts/trouble.js';
import { hrefOf } from '../../place.js';
import { lastArrivals, type Arrivals } from './endpoint-order.js';
import { PortPanel } from './port-panel.js';
import { TrafficPanel } from './traffic-panel.js';

const AT_LEAST_EVERY = 5_000;
const RECENT = 3;
const NO_ARRIVALS: Arrivals = new Map();

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
  const arrivals = useMemo(
    () => (history.value ? lastArrivals(history.value.changes) : NO_ARRIVALS),
    [history.value],
  );
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
      {explanation.value && <Verdicts explanation={explanation.value} />}
      <Panel id="history" title="What changed" at={history.at}>
        <Trouble problem={history.problem} what="history" />
        {history.value && <LastChanges service={service} changes={history.value.changes} />}
      </Panel>
      {explanation.value && (
        <Families explanation={explanation.value} at={explanation.at} arrivals={arrivals} />
      )}
      <TrafficPanel service={service} arrivals={arrivals} />
    </>
  );
}

function LastChanges({
  service,
  changes,
}: Pick<History, 'changes'> & { readonly service: string }): JSX.Element {
  return (
    <>
      <Changes changes={changes.slice(-RECENT).reverse()} />
      {changes.length > RECENT && (
        <p>
          <a href={hrefOf({ view: 'history', search: `${service} `, failing: false })}>
            All {counted(changes.length, 'change')} that are remembered
          </a>
        </p>
      )}
    </>
  );
}

/** That it is not served, and what is wrong with its objects. */
function Verdicts({ explanation }: { readonly explanation: Explanation }): JSX.Element {
  const { known, unserved, problems } = explanation;
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
    </>
  );
}

interface FamiliesProps extends Pick<Parameters<typeof PortPanel>[0], 'at' | 'arrivals'> {
  readonly explanation: Explanation;
}

/** Its service ports, family by family. */
function Families({ explanation: { known, families }, ...more }: FamiliesProps): JSX.Element {
  return (
    <>
      {families.flatMap(({ family, ports, absence, healthCheck }) => [
        ...ports.map((port) => (
          <PortPanel key={`${family} ${port.port} ${port.protocol}`} family={family} port={port} {...more} />
        )),
        ...(known && absence ? [<p key={family} class="quiet">{`${family}: ${absence.text}`}</p>] : []),
        ...(healthCheck
          ? [<p key={`${family} check`}>{`${family}: ${healthCheckWords(healthCheck)}`}</p>]
          : []),
      ])}
    </>
  );
}
