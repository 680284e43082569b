import { type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import { House } from "../wire/house";
import { type PageKey, forgetKey, loadKey } from "../wire/key";
import { HouseProvider, useHouseState } from "../wire/useHouse";
import { WordsProvider, useWords, wordsFor } from "../words/words";
import { Boundary } from "./Boundary";
import { Impostor, LinkGate } from "./Gate";
import { HousePage } from "./House";
import { type Preferences, applyTheme, loadPreferences, savePreferences } from "./preferences";

type Phase = { at: "reading" } | { at: "link"; secret: string | null; revoked: boolean } | { at: "in"; house: House };

interface SignedInProps {
  preferences: Preferences;
  onPreferences: (next: Preferences) => void;
  onRetry: () => void;
  onForget: () => void;
}

const SignedIn = ({ preferences, onPreferences, onRetry, onForget }: SignedInProps) => {
  const { connection } = useHouseState("connection");
  if (connection.state === "impostor") return <Impostor onAgain={onRetry} onForget={onForget} />;
  return <HousePage preferences={preferences} onPreferences={onPreferences} />;
};

/** What is left where the page as a whole could not be drawn. */
const Anew = ({ children }: { children: ReactNode }) => {
  const words = useWords();
  return (
    <main className="anew">
      {children}
      <button type="button" className="btn" onClick={() => location.reload()}>
        {words.shell.reload}
      </button>
    </main>
  );
};

/** From the first look at the address to the open house: key, link, proof, page. */
export const App = ({ secret }: { secret: string | null }) => {
  const [phase, setPhase] = useState<Phase>({ at: "reading" });
  const [preferences, setPreferences] = useState(loadPreferences);
  const words = useMemo(() => wordsFor(preferences.language, navigator.languages), [preferences.language]);

  const unlinked = useCallback(
    (old: House | null) => {
      old?.stop();
      const wasIn = old !== null && old.snapshot().config !== null; // then the link that was opened is used up or old
      setPhase({ at: "link", secret: wasIn ? null : secret, revoked: wasIn || secret === null });
    },
    [secret],
  );
  const enter = useCallback(
    (key: PageKey) => {
      const house: House = new House(key, () => unlinked(house));
      house.start();
      setPhase({ at: "in", house });
    },
    [unlinked],
  );

  useEffect(() => {
    loadKey().then(
      (key) => (key?.serverKey ? enter(key) : setPhase({ at: "link", secret, revoked: false })),
      () => setPhase({ at: "link", secret, revoked: false }),
    );
  }, [enter, secret]);
  useEffect(() => {
    document.documentElement.lang = words.code;
  }, [words]);

  const change = (next: Preferences) => {
    savePreferences(next);
    applyTheme(next.theme);
    setPreferences(next);
  };

  return (
    <WordsProvider value={words}>
      {phase.at === "link" && <LinkGate secret={phase.secret} revoked={phase.revoked} onLinked={enter} />}
      {phase.at === "in" && (
        <HouseProvider value={phase.house}>
          <Boundary says={words.shell.pageNotDrawn} around={(line) => <Anew>{line}</Anew>}>
            <SignedIn
              preferences={preferences}
              onPreferences={change}
              onRetry={() => phase.house.retry()}
              onForget={() => {
                phase.house.stop();
                void forgetKey().then(() => setPhase({ at: "link", secret: null, revoked: false }));
              }}
            />
          </Boundary>
        </HouseProvider>
      )}
    </WordsProvider>
  );
};
