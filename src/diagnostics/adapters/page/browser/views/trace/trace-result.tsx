import type { JSX } from 'preact';
import { SOURCE_WORDS } from '../../../../../application/words.js';
import type { TraceAnswer } from '../../../../../application/trace/answer.js';
import type { MarkKind } from '../../parts/mark-kind.js';
import { Mark } from '../../parts/mark.js';
import { Panel } from '../../parts/panel.js';
import { clockTime } from '../../parts/time.js';
import { Shares } from './shares.js';
import { Steps } from './steps.js';

const OUTCOMES: Readonly<
  Record<TraceAnswer['outcome'], { readonly mark: MarkKind; readonly words: string }>
> = {
  forward: { mark: 'good', words: 'is forwarded' },
  refused: { mark: 'bad', words: 'is refused: the sender gets an error' },
  dropped: { mark: 'bad', words: 'is dropped: the sender gets no answer' },
  untouched: { mark: 'off', words: 'is left as it is by all rules' },
  mixed: { mark: 'waiting', words: 'meets rules of other programs that leave it to chance' },
};

interface ResultProps {
  readonly answer: TraceAnswer;
  /** When the proxy said so, in milliseconds since the epoch. */
  readonly at: number;
  readonly from: string;
  readonly to: string;
}

/** What becomes of the packet, where it may go, and the rules that it met. */
export function TraceResult({ answer, at, from, to }: ResultProps): JSX.Element {
  const { mark, words } = OUTCOMES[answer.outcome];
  return (
    <>
      <section class="panel" aria-label="Outcome">
        <p class={`verdict ${mark}`} role="status">
          <Mark kind={mark} /> A packet from {from} to {to} {words}{' '}
          <span class="quiet">at {clockTime(at)}</span>
        </p>
        {answer.isUncertain && (
          <p class="bad">
            <Mark kind="bad" /> Uncertain; the steps say why.
          </p>
        )}
        {answer.endpoints.length > 0 && <Shares endpoints={answer.endpoints} />}
        <ul class="lines">
          {answer.endpoints.length > 0 && (
            <>
              <li>its source is {SOURCE_WORDS[`${answer.sourceRewritten}`]}</li>
              <li>
                {answer.sticky
                  ? 'the next connection of the same client goes to the same endpoint'
                  : 'each connection chooses its endpoint anew'}
              </li>
            </>
          )}
          {answer.reason !== undefined && <li>because {answer.reason}</li>}
          {answer.remarks.map((remark) => (
            <li key={remark}>{remark}</li>
          ))}
        </ul>
      </section>
      <Panel title="The rules that it met">
        <Steps steps={answer.steps} />
      </Panel>
    </>
  );
}
