import type { ComponentChildren, JSX } from 'preact';
import { proxyWord, familyWords } from '../../../../../application/words.js';
import type { ProxyStatus } from '../../../../../application/status/proxy-status.js';
import type { MarkKind } from '../../parts/mark-kind.js';
import { Mark } from '../../parts/mark.js';
import { Lines } from '../../parts/lines.js';
import { clockTime, counted, span } from '../../parts/time.js';

const MARKS: Readonly<Record<ProxyStatus['state'], MarkKind>> = {
  good: 'good',
  degraded: 'waiting',
  'not-serving': 'bad',
};

/** How the proxy is and why, and what it is. */
export function Health({ status }: { readonly status: ProxyStatus }): JSX.Element {
  const { state, reasons, inSync, lag, waiting, families } = status;
  const mark = MARKS[state];
  return (
    <>
      <p class={`verdict ${mark}`} role="status">
        <Mark kind={mark} /> {proxyWord(state)}
        <span class="quiet">
          {inSync ? ', in sync' : `, changes wait${lag > 0 ? ` for ${span(lag * 1_000)}` : ''}`}
        </span>
      </p>
      <Lines lines={[...reasons, ...waiting.filter((line) => !reasons.includes(line))]} />
      <dl class="facts">
        <Fact name="Node">{status.node}</Fact>
        <Fact name="Mode">{status.mode}</Fact>
        <Fact name="Running since">
          {clockTime(status.startedAt)} ({span(Date.parse(status.now) - Date.parse(status.startedAt))})
        </Fact>
        <Fact name="Versions">
          {status.versions.program}, for Kubernetes {status.versions.kubernetes}, Node.js{' '}
          {status.versions.node}, kernel {status.versions.kernel}
        </Fact>
        {families.map((family) => (
          <Fact key={family.family} name={family.family}>
            {familyWords(family, clockTime, counted)}
          </Fact>
        ))}
      </dl>
    </>
  );
}

function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
