import type { JSX } from 'preact';
import type { ServiceCounts } from '../../../../../application/status/service-row.js';
import type { MarkKind } from '../../parts/mark-kind.js';
import { Mark } from '../../parts/mark.js';
import { counted } from '../../parts/time.js';
import { hrefOf, type Show } from '../../place.js';

interface Count {
  readonly show: Show;
  readonly mark: MarkKind;
  readonly text: string;
}

/** What somebody should look at, each with a link to the Services that it is about. What there is none of is not there. */
export function Counts(counts: ServiceCounts): JSX.Element | null {
  const { withoutEndpoints, held, aside } = counts;
  const lines: readonly (Count | false)[] = [
    held > 0 && { show: 'held', mark: 'bad', text: counted(held, 'held frontend') },
    withoutEndpoints > 0 && {
      show: 'without-endpoints',
      mark: 'off',
      text: `${counted(withoutEndpoints, 'service')} without endpoints`,
    },
    aside > 0 && { show: 'aside', mark: 'waiting', text: `${counted(aside, 'silent endpoint')} aside` },
  ];
  const shown = lines.filter((line) => line !== false);
  if (shown.length === 0) return null;
  return (
    <ul class="lines" id="counts">
      {shown.map(({ show, mark, text }) => (
        <li key={show}>
          <Mark kind={mark} /> <a href={hrefOf({ view: 'services', search: '', show })}>{text}</a>
        </li>
      ))}
    </ul>
  );
}
