# Everything a person needs: `make demo` to try it, `make test` to check it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: awscli docs reference peers ml test-ml demo demo-archives demo-antique demo-target serve test test-slow explore check venv messages types lock perf screenshots clean

# Hundreds of processes start in the tests; without bytecode each would compile again what it imports.
unexport PYTHONDONTWRITEBYTECODE

# uv, where it is there, installs in seconds what takes pip minutes.
install = $(if $(shell command -v uv),uv pip install --quiet --python $(1)/bin/python,$(1)/bin/pip install --quiet --disable-pip-version-check) --require-hashes

$(VENV)/.run-time: requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(call install,$(VENV)) -r requirements.txt
	touch $@

$(VENV)/.development: $(VENV)/.run-time requirements-dev.txt
	$(call install,$(VENV)) -r requirements-dev.txt
	touch $@

$(VENV)/.peers: $(VENV)/.development requirements-peers.txt
	$(call install,$(VENV)) -r requirements-peers.txt
	touch $@

venv: $(VENV)/.development

# Trained baselines have an environment of their own here; for use, the two install commands go into any.
ml: .venv-ml/.ready  ## PyTorch and transformers, for the trained baselines

.venv-ml/.ready: requirements-ml.txt requirements-dev.txt
	$(PYTHON) -m venv .venv-ml
	$(call install,.venv-ml) -r requirements-dev.txt
	.venv-ml/bin/pip install --quiet --disable-pip-version-check torch==2.13.0
	$(call install,.venv-ml) -r requirements-ml.txt
	touch $@

test-ml: ml  ## the trained baselines
	.venv-ml/bin/python -c "import torch, transformers"  # not there: this fails, and skips nothing
	.venv-ml/bin/python -m pytest -q tests/baselines

peers: $(VENV)/.peers  ## the field's own tools, for the tests that compare with them

awscli: .venv-awscli/.ready  ## the AWS command line, for one test; it pins what boto3 pins otherwise

.venv-awscli/.ready: requirements-awscli.txt
	$(PYTHON) -m venv .venv-awscli
	$(call install,.venv-awscli) -r requirements-awscli.txt
	touch $@

demo: $(VENV)/.run-time  ## set up, fill, print logins, serve
	$(BIN)/python manage.py demo

demo-archives: $(VENV)/.run-time  ## make the demo's finished campaigns again (after a migration)
	QUORATE_DATA=$$(mktemp -d) $(BIN)/python manage.py demo_archives

demo-antique: $(VENV)/.run-time  ## ANTIQUE's whole process at 1/500 of its size, with a synthetic crowd (minutes)
	$(BIN)/python manage.py replay antique --scale 0.002 --seed 2020 --json

demo-target: $(VENV)/.run-time  ## the same beside adaptive voting with an error target (minutes)
	$(BIN)/python manage.py replay target --scale 0.002 --seed 2020 --json

serve: $(VENV)/.run-time  ## web and worker on this machine
	$(BIN)/python manage.py serve

PYTEST := $(BIN)/python -m pytest -q -n 4 --durations 10
MARKETPLACE := --ds=config.settings.marketplace_test tests/marketplace
# Slow tests go one after another to whoever is free, the longest first: a file of replays would hold up the end.
SLOW := --dist load --maxschedchunk 1 -m "slow $(AND)"

test: venv  ## what this machine can run; says what it left out (AND="and not browser" narrows it)
	$(PYTEST) --dist loadfile -m "not slow $(AND)"
	$(PYTEST) --dist loadfile -m "not slow $(AND)" $(MARKETPLACE)

test-slow: venv  ## what takes minutes: every page in Chromium, workers killed again and again, outages, the papers' processes
	QUORATE_REQUIRE="slow $(QUORATE_REQUIRE)" $(PYTEST) $(SLOW)
	QUORATE_REQUIRE="slow $(QUORATE_REQUIRE)" $(PYTEST) $(SLOW) $(MARKETPLACE)

explore: venv  ## the tests with drawn examples, a thousand new ones each (minutes; what fails becomes an @example)
	$(PYTEST) -m "hypothesis and not slow $(AND)" --hypothesis-profile explore

check: venv  ## the gate
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file marketplace/mypy.ini
	$(BIN)/lint-imports
	$(BIN)/djlint templates --lint --quiet
	DJANGO_SETTINGS_MODULE=config.settings.test $(BIN)/python manage.py makemigrations --check --dry-run
	DJANGO_SETTINGS_MODULE=config.settings.marketplace_test $(BIN)/python manage.py makemigrations --check --dry-run
	DJANGO_SETTINGS_MODULE=config.settings.prod SECRET_KEY=$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(50))') \
	  ALLOWED_HOSTS=quorate.example EMAIL_URL=consolemail:// DEFAULT_FROM_EMAIL=quorate@quorate.example TRUSTED_PROXY_COUNT=1 DATABASE_URL=sqlite:///:memory: \
	  $(BIN)/python manage.py check --deploy --fail-level WARNING
	DJANGO_SETTINGS_MODULE=config.settings.marketplace MARKETPLACE_SECRET_KEY=$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(50))') \
	  TRUSTED_PROXY_COUNT=1 MARKETPLACE_URL=https://work.example MARKETPLACE_CONTENT_URL=https://content.example EMAIL_URL=consolemail:// \
	  DEFAULT_FROM_EMAIL=marketplace@work.example MARKETPLACE_DATABASE_URL=sqlite:///:memory: $(BIN)/python manage.py check --deploy --fail-level WARNING

messages: venv  ## after changing texts: collect, translate in locale/, compile (needs gettext)
	$(BIN)/python manage.py makemessages -l zh_Hans --no-obsolete --no-location -i '.venv*' -i var
	$(BIN)/python manage.py makemessages -d djangojs -l zh_Hans --no-obsolete --no-location -i '.venv*' -i var -i 'static/vendor/*'
	$(BIN)/python manage.py compilemessages -i '.venv*'

reference: venv  ## after changing a command or a statistic: the pages of docs/reference that follow from the code
	$(BIN)/python docs/generate.py

docs: .venv-docs/.ready  ## the docs site, for a browser without a network: var/docs/docs/index.html
	.venv-docs/bin/python -m sphinx -q -W --keep-going -c docs -d var/doctrees . var/docs

.venv-docs/.ready: requirements-docs.txt
	$(PYTHON) -m venv .venv-docs
	$(call install,.venv-docs) -r requirements-docs.txt
	touch $@

types:  ## the JavaScript against its JSDoc (needs npm)
	npx --yes -p typescript@5.9.3 tsc -p jsconfig.json

LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header

lock:  ## after changing pyproject.toml (needs uv)
	$(LOCK) pyproject.toml -o requirements.txt
	$(LOCK) pyproject.toml --extra nlp -c requirements.txt -o requirements-nlp.txt
	$(LOCK) pyproject.toml --extra ml -c requirements.txt -o requirements-ml.txt
	$(LOCK) pyproject.toml --extra saml -c requirements.txt -o requirements-saml.txt
	$(LOCK) pyproject.toml --extra sentry --extra opentelemetry -c requirements.txt -o requirements-telemetry.txt
	$(LOCK) pyproject.toml --extra xlsx -c requirements.txt -o requirements-xlsx.txt
	$(LOCK) pyproject.toml --extra hub -c requirements.txt -o requirements-hub.txt
	$(LOCK) pyproject.toml --group dev -c requirements.txt -o requirements-dev.txt
	$(LOCK) --group docs -o requirements-docs.txt
	$(LOCK) --group peers -c requirements-dev.txt -o requirements-peers.txt
	echo awscli | $(LOCK) - -o requirements-awscli.txt
	echo 'django>=6' | $(subst 3.11,3.13,$(LOCK)) --no-deps - -o requirements-next-django.txt

perf: venv  ## a short version of the figures in perf/README.md, beside the ones kept last
	$(BIN)/python -m perf

screenshots: venv  ## the pictures of the tutorial, from a fresh demo
	$(BIN)/python -m tests.screenshots

clean:
	rm -rf $(VENV) .venv-awscli .venv-docs .venv-ml var
