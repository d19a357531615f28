// Written by `pnpm api` from the Host's OpenAPI document. Don't edit it.

export interface paths {
    "/api/v1/adapters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Adapters */
        get: operations["list_adapters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/adapters/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Adapter */
        get: operations["read_adapter"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Agents */
        get: operations["list_agents"];
        put?: never;
        /** Create Agent */
        post: operations["create_agent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{agent_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Agent */
        get: operations["read_agent"];
        /** Replace Agent */
        put: operations["replace_agent"];
        post?: never;
        /** Delete Agent */
        delete: operations["delete_agent"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{agent_id}/chat/{session}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Messages
         * @description What was said in this session of yours, in order or the other way round.
         */
        get: operations["read_messages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{agent_id}/chat/{session}/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reset
         * @description Begins this session of yours anew; what was said before stays under its own conversation id.
         */
        post: operations["reset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{agent_id}/chat/broadcast": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Broadcast
         * @description Shown to whoever is in the chat at this moment, and kept nowhere.
         */
        post: operations["broadcast"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{agent_id}/chat/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Connections
         * @description Who is in the chat now; with a chat key only its own.
         */
        get: operations["list_connections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{agent_id}/chat/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Sessions
         * @description Your sessions with the agent; the one in which something was said last comes first.
         */
        get: operations["list_sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test Agent
         * @description Lets the runner check a configuration against its service; nothing is stored.
         */
        post: operations["test_agent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Keys */
        get: operations["list_keys"];
        put?: never;
        /**
         * Create Key
         * @description `key` is in this answer only.
         */
        post: operations["create_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/api-keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke Key
         * @description It fails on its next request; a worker with it is disconnected and loses its runs.
         */
        delete: operations["revoke_key"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Approvals
         * @description Newest first.
         */
        get: operations["list_approvals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals/{approval_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Approval */
        get: operations["read_approval"];
        put?: never;
        /**
         * Decide
         * @description Carried out at once if it is approved; what became of it is its `outcome`.
         */
        post: operations["decide"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/artifacts/{artifact_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Artifact */
        get: operations["read_artifact"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/artifacts/{artifact_id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Content
         * @description Whole, or the range that is asked for. What could run in a browser comes as a download.
         */
        get: operations["read_content"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Entries
         * @description Newest first. An allowed call may take a second to appear, a refused one is there at once.
         */
        get: operations["list_entries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Log In */
        post: operations["log_in"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Log Out */
        post: operations["log_out"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Me
         * @description Who is asking; for a person also the token that guards changes.
         */
        get: operations["read_me"];
        /**
         * Change Me
         * @description A new password takes the present one and ends all other sessions.
         */
        put: operations["change_me"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/setup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Setup
         * @description Tells whether the first owner is still to be made, and whether that takes the set-up token: it does unless
         *     the page was opened on the Host's own machine, without a proxy.
         */
        get: operations["read_setup"];
        put?: never;
        /**
         * Set Up
         * @description Makes the first owner and logs them in; there is one first owner only.
         */
        post: operations["set_up"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Bots */
        get: operations["list_bots"];
        put?: never;
        /** Create Bot */
        post: operations["create_bot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bots/{bot_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Bot */
        get: operations["read_bot"];
        /** Replace Bot */
        put: operations["replace_bot"];
        post?: never;
        /** Delete Bot */
        delete: operations["delete_bot"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bots/{bot_id}/addresses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Bot Addresses */
        get: operations["read_bot_addresses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bots/{bot_id}/addresses/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check Bot Address
         * @description Calls the callback address as the platform would, and returns what it would see.
         */
        post: operations["check_bot_address"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bots/{bot_id}/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin Bot Login
         * @description Starts a login: the QR code is scanned with the app of the platform.
         */
        post: operations["begin_bot_login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bots/{bot_id}/login/continue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Continue Bot Login
         * @description Waits up to half a minute for the person, and returns the state. A confirmed login connects the bot.
         */
        post: operations["continue_bot_login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bots/{bot_id}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Bot Preview
         * @description Its transcript is the history of this preview.
         */
        get: operations["read_bot_preview"];
        put?: never;
        /**
         * Preview Bot
         * @description Answered by the bot's routes, in a real run with a history of its own. Tools that may change something are
         *     asked about first.
         */
        post: operations["preview_bot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bots/{bot_id}/routes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Routes */
        get: operations["list_routes"];
        /** Replace Routes */
        put: operations["replace_routes"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bots/{bot_id}/routes/dry-run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try Routes
         * @description By the bot's own routes, or by those that come with the event.
         */
        post: operations["try_routes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/box/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Box Audit
         * @description Newest first. A call is recorded before its result is returned; one that the policy denies is not listed.
         */
        get: operations["list_box_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/box/errors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Box Errors
         * @description The last 200 failures since the Host started, newest first.
         */
        get: operations["list_box_errors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/box/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Box Sessions
         * @description All live sandboxes; there are at most as many as the setting allows.
         */
        get: operations["list_box_sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/box/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End Box Session
         * @description Ends the sandbox with everything in it. Its workspace stays.
         */
        delete: operations["end_box_session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/box/sessions/{session_id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Box Files
         * @description A folder of a live session; /workspace by default.
         */
        get: operations["list_box_files"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/box/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Box Status
         * @description Starts the Box if nothing needed it yet.
         */
        get: operations["read_box_status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/box/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test Box
         * @description Runs commands in a sandbox of its own that show whether the limits hold.
         */
        post: operations["test_box"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/box/try": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try Command
         * @description Runs a command as an agent with this policy would, in a sandbox of the person's own. It is audited before.
         */
        post: operations["try_command"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Budgets */
        get: operations["list_budgets"];
        put?: never;
        /** Create Budget */
        post: operations["create_budget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/budgets/{budget_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Budget */
        get: operations["read_budget"];
        /** Replace Budget */
        put: operations["replace_budget"];
        post?: never;
        /** Delete Budget */
        delete: operations["delete_budget"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Conversations
         * @description Newest first; with a chat key only its own. With `q` a page may hold fewer than `limit`, also none.
         */
        get: operations["list_conversations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{conversation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Conversation */
        get: operations["read_conversation"];
        put?: never;
        post?: never;
        /**
         * Delete Conversation
         * @description What was said in it is gone, its files' content with the next clean-up; a chat key deletes its own.
         *
         *     Its default agent goes with it.
         */
        delete: operations["delete_conversation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{conversation_id}/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reset Conversation
         * @description Its chat begins anew; what was said before stays under its own id.
         */
        post: operations["reset_conversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{conversation_id}/transcript": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Transcript
         * @description In the order it was said or the other way round; with `q` what matches, the best first, on one page.
         */
        get: operations["read_transcript"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/default-agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Default Agents */
        get: operations["list_default_agents"];
        /**
         * Set Default Agent
         * @description Where another agent is the default already, it is refused, unless that one is named in `replaces`.
         */
        put: operations["set_default_agent"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/default-agents/{default_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove Default Agent */
        delete: operations["remove_default_agent"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Events
         * @description Newest first.
         */
        get: operations["list_events"];
        put?: never;
        /**
         * Inject Event
         * @description Accepted when it is durable. The same event_id of the same key is the same event.
         */
        post: operations["inject_event"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/{name}/why": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain Event
         * @description The decision trail, in words. The name is an event's id, a run's id or a platform's message id.
         */
        get: operations["explain_event"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/feedback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Feedback
         * @description What was not withdrawn, in a lasting order that is not that of time.
         */
        get: operations["list_feedback"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload File
         * @description One file in the field 'file'. A message takes it along by naming its id as `artifact_id`.
         */
        post: operations["upload_file"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/files/{file_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read File */
        get: operations["read_file"];
        put?: never;
        post?: never;
        /**
         * Delete File
         * @description Also from the conversation that has it: who sent it takes it back.
         */
        delete: operations["delete_file"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Hosts
         * @description The Hosts of the cluster and what each of them owns. Empty for a Host that has its database to itself.
         */
        get: operations["list_hosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Drain Host
         * @description The Host finishes its work, gives all its parts to the others, and takes none until it is resumed.
         */
        post: operations["drain_host"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume Host
         * @description The Host takes parts again.
         */
        post: operations["resume_host"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Info */
        get: operations["read_info"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Jobs
         * @description Newest first. Finished jobs of some kinds are not kept; failed ones are kept for 30 days.
         */
        get: operations["list_jobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Job */
        get: operations["read_job"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Job
         * @description A job that runs is asked to end; the answer may still show it as running.
         */
        post: operations["cancel_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry Job
         * @description A failed or cancelled job starts over; a waiting one is attempted at once.
         */
        post: operations["retry_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge-bases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Knowledge Bases */
        get: operations["list_knowledge_bases"];
        put?: never;
        /** Create Knowledge Base */
        post: operations["create_knowledge_base"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge-bases/{kb_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Knowledge Base */
        get: operations["read_knowledge_base"];
        /** Replace Knowledge Base */
        put: operations["replace_knowledge_base"];
        post?: never;
        /** Delete Knowledge Base */
        delete: operations["delete_knowledge_base"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge-bases/{kb_id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Knowledge Files
         * @description Newest first.
         */
        get: operations["list_knowledge_files"];
        put?: never;
        /**
         * Add Knowledge File
         * @description A multipart form with the field `file`, or JSON that names an artifact, a web page, or holds text.
         */
        post: operations["add_knowledge_file"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge-bases/{kb_id}/files/{file_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Knowledge File */
        get: operations["read_knowledge_file"];
        put?: never;
        post?: never;
        /**
         * Delete Knowledge File
         * @description Also in the middle of its processing.
         */
        delete: operations["delete_knowledge_file"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge-bases/{kb_id}/files/{file_id}/chunks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Knowledge Chunks
         * @description The passages of a file, in order.
         */
        get: operations["list_knowledge_chunks"];
        put?: never;
        /**
         * Add Knowledge Chunk
         * @description A passage of one's own; it is lost when the file is taken up again.
         */
        post: operations["add_knowledge_chunk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge-bases/{kb_id}/files/{file_id}/chunks/{chunk_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Knowledge Chunk */
        get: operations["read_knowledge_chunk"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change Knowledge Chunk
         * @description Changes its text or hints, or whether it can be found.
         */
        patch: operations["change_knowledge_chunk"];
        trace?: never;
    };
    "/api/v1/knowledge-bases/{kb_id}/files/{file_id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Knowledge File Content */
        get: operations["read_knowledge_file_content"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge-bases/{kb_id}/files/{file_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry Knowledge File
         * @description Takes the file up again; a web page is fetched again.
         */
        post: operations["retry_knowledge_file"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge-bases/{kb_id}/reembed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reembed Knowledge Base
         * @description All vectors are made again in the background; those there are stay in use until then.
         */
        post: operations["reembed_knowledge_base"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge-bases/{kb_id}/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search Knowledge Base
         * @description The passages that a run would get; with `settings` those that it would get with other settings.
         */
        post: operations["search_knowledge_base"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge-engines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Knowledge Engines
         * @description The engines of plugins that bases may use instead of the builtin one.
         */
        get: operations["list_knowledge_engines"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge-parsers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Knowledge Parsers
         * @description The parsers of plugins that may read files.
         */
        get: operations["list_knowledge_parsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge-stores": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Knowledge Stores
         * @description The vector stores that bases may use, and what the others lack.
         */
        get: operations["list_knowledge_stores"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp-servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Mcp Servers */
        get: operations["list_mcp_servers"];
        put?: never;
        /** Create Mcp Server */
        post: operations["create_mcp_server"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp-servers/{server_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Mcp Server */
        get: operations["read_mcp_server"];
        /** Replace Mcp Server */
        put: operations["replace_mcp_server"];
        post?: never;
        /** Delete Mcp Server */
        delete: operations["delete_mcp_server"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp-servers/{server_id}/get-prompt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get Prompt Of Mcp Server */
        post: operations["get_prompt_of_mcp_server"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp-servers/{server_id}/read-resource": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Read Resource Of Mcp Server */
        post: operations["read_resource_of_mcp_server"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp-servers/{server_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test Mcp Server
         * @description As it is, or as it would be with this change.
         */
        post: operations["test_mcp_server"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp-servers/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Test Mcp Server Before Saving */
        post: operations["test_mcp_server_before_saving"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Memories
         * @description What agents remember; with the type and id of a person everything about this person.
         */
        get: operations["list_memories"];
        put?: never;
        post?: never;
        /**
         * Delete Memories Of Owner
         * @description Deletes what all agents remember about a person or chat, and what was decided there with `/memory`.
         */
        delete: operations["delete_memories_of_owner"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/memories/{memory_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete Memory */
        delete: operations["delete_memory"];
        options?: never;
        head?: never;
        /** Change Memory */
        patch: operations["change_memory"];
        trace?: never;
    };
    "/api/v1/message-policies/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check Message Policy
         * @description Nothing is stored.
         */
        post: operations["check_message_policy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/model-kinds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Kinds
         * @description All of them at once, those that most people look for first.
         */
        get: operations["list_kinds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/model-providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Providers */
        get: operations["list_providers"];
        put?: never;
        /** Create Provider */
        post: operations["create_provider"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/model-providers/{provider_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Provider */
        get: operations["read_provider"];
        /** Replace Provider */
        put: operations["replace_provider"];
        post?: never;
        /** Delete Provider */
        delete: operations["delete_provider"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Models */
        get: operations["list_models"];
        put?: never;
        /** Create Model */
        post: operations["create_model"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/{model_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Model */
        get: operations["read_model"];
        /** Replace Model */
        put: operations["replace_model"];
        post?: never;
        /** Delete Model */
        delete: operations["delete_model"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/{model_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Test Model */
        post: operations["test_model"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/parts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Parts
         * @description The parts of the work and their owners. Empty for a Host that has its database to itself.
         */
        get: operations["list_parts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/parts/{part}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move Part
         * @description The owner finishes the work of the part and gives it to the named Host, which keeps it for 30 seconds at
         *     least; then the parts are balanced as before.
         */
        post: operations["move_part"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pipelines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Pipelines */
        get: operations["list_pipelines"];
        put?: never;
        /** Create Pipeline */
        post: operations["create_pipeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pipelines/{pipeline_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Pipeline */
        get: operations["read_pipeline"];
        /** Replace Pipeline */
        put: operations["replace_pipeline"];
        post?: never;
        /** Delete Pipeline */
        delete: operations["delete_pipeline"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pipelines/{pipeline_id}/copy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Copy Pipeline
         * @description The copy has a name of its own and is used by no route.
         */
        post: operations["copy_pipeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pipelines/{pipeline_id}/dry-run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try Pipeline
         * @description Nothing is stored, counted or sent.
         */
        post: operations["try_pipeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pipelines/{pipeline_id}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Pipeline Preview
         * @description Its transcript is the history of this preview.
         */
        get: operations["read_pipeline_preview"];
        put?: never;
        /**
         * Preview Pipeline
         * @description Answered by the stored pipeline, as POST /bots/{bot_id}/preview does for a bot.
         */
        post: operations["preview_pipeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Plugins
         * @description Every installed plugin; one that does not run says why.
         */
        get: operations["list_plugins"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{author}/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Plugin */
        get: operations["read_plugin"];
        /** Change Plugin */
        put: operations["change_plugin"];
        post?: never;
        /**
         * Remove Plugin
         * @description Its agents stay and say that it is gone.
         */
        delete: operations["remove_plugin"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{author}/{name}/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Plugin Config
         * @description The plugin's own form, and its values; secrets are masked.
         */
        get: operations["read_plugin_config"];
        /**
         * Change Plugin Config
         * @description Stores the values and restarts the plugin, which then reads them.
         */
        put: operations["change_plugin_config"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{author}/{name}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Log
         * @description The last lines that it wrote, oldest first; before them those of the last build of its environment.
         */
        get: operations["read_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{author}/{name}/pages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Plugin Pages
         * @description The plugin's pages in the web interface; none while it does not run.
         */
        get: operations["list_plugin_pages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{author}/{name}/pages/{page}/calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Call Plugin Page
         * @description Calls the plugin's code behind the page with the role of the caller. Each call is audited.
         */
        post: operations["call_plugin_page"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{author}/{name}/pages/{page}/document": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Plugin Page
         * @description The HTML of a page, for a frame of the web interface. It has no network, no cookies and no origin.
         */
        get: operations["read_plugin_page"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{author}/{name}/programs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Programs
         * @description The programs that the plugin may have started, in the order of its manifest.
         */
        get: operations["list_programs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{author}/{name}/restart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Restart Plugin */
        post: operations["restart_plugin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/bundled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Bundled Plugins
         * @description The plugins that come with this release; `POST /plugins/install` with one's `source` installs it.
         */
        get: operations["list_bundled_plugins"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/install": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Install Plugin
         * @description Installs or upgrades; a version that does not start leaves the one before it in service.
         */
        post: operations["install_plugin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runners": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Runners
         * @description Every runner of every installed plugin.
         */
        get: operations["list_runners"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Runs
         * @description Newest first. With `actor` or `q` a page may hold fewer than `limit`, also none; `next_cursor` goes on.
         */
        get: operations["list_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Run */
        get: operations["read_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Run
         * @description Returns when the run is over; what its runner still says appears nowhere.
         */
        post: operations["cancel_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Deliveries
         * @description What it was to show to people, in order, and what became of that.
         */
        get: operations["list_deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Run Events
         * @description In the order they happened.
         */
        get: operations["list_run_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/model-calls/{call_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Model Call
         * @description The prompt, the parameters and the answer of one model call; `call_id` is in its `model.called` event.
         *
         *     Kept for `retention.model_calls_days`. Who may read it is decided by the setting `model_calls.visible_to`.
         */
        get: operations["read_model_call"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Replay Run
         * @description The frames of the chat as its people saw them, each with its time.
         */
        get: operations["replay_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/rerun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rerun
         * @description Its event once more, with what is asked to be different. It goes on; nothing of it is delivered.
         */
        post: operations["rerun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runtimes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Runtimes
         * @description Those that are there and those that are gone.
         */
        get: operations["list_runtimes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runtimes/{runtime_id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke Runtime
         * @description Ends its registration. Its runs wait for another worker, or end as interrupted if they have started.
         *
         *     A worker process whose key is still valid connects again; revoke the key to keep it away.
         */
        post: operations["revoke_runtime"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runtimes/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Queue
         * @description Runs that wait for a worker or are held by one, oldest first.
         */
        get: operations["list_queue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Schedules */
        get: operations["list_schedules"];
        put?: never;
        /** Create Schedule */
        post: operations["create_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Schedule */
        get: operations["read_schedule"];
        /**
         * Replace Schedule
         * @description It is due next as seen from now.
         */
        put: operations["replace_schedule"];
        post?: never;
        /** Delete Schedule */
        delete: operations["delete_schedule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Settings */
        get: operations["read_settings"];
        /**
         * Change Settings
         * @description What is left out stays as it is; null takes a change back. It acts at once and outlives a restart.
         */
        put: operations["change_settings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Skills */
        get: operations["list_skills"];
        put?: never;
        /**
         * Create Skill
         * @description Creates a skill of instructions alone; files can be added afterwards.
         */
        post: operations["create_skill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/skills/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Skill */
        get: operations["read_skill"];
        /** Replace Skill */
        put: operations["replace_skill"];
        post?: never;
        /**
         * Delete Skill
         * @description Deletes the skill with its files. It is not active in any conversation any more.
         */
        delete: operations["delete_skill"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/skills/{name}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Skill Files
         * @description All files of the skill; there are at most 512.
         */
        get: operations["list_skill_files"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/skills/{name}/files/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Skill File */
        get: operations["read_skill_file"];
        /**
         * Write Skill File
         * @description Writes a text file, which may be SKILL.md itself. `If-Match` takes the `ETag` of the skill.
         */
        put: operations["write_skill_file"];
        post?: never;
        /** Delete Skill File */
        delete: operations["delete_skill_file"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/skills/install": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Install Skills
         * @description Installs the skills of a source, or those that `source_paths` names.
         */
        post: operations["install_skills"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/skills/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview Skills
         * @description Reads a source without installing anything.
         */
        post: operations["preview_skills"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Stats
         * @description An hour each, oldest first, without hours in which nothing happened; `totals` adds them up.
         */
        get: operations["read_stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stats/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Usage
         * @description What each agent used of each model, a day each, the oldest day first; days of the workspace's time zone.
         */
        get: operations["read_usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Tools */
        get: operations["list_tools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Users */
        get: operations["list_users"];
        put?: never;
        /** Create User */
        post: operations["create_user"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read User */
        get: operations["read_user"];
        /**
         * Change User
         * @description What is not named stays as it is.
         */
        put: operations["change_user"];
        post?: never;
        /** Delete User */
        delete: operations["delete_user"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Webhooks */
        get: operations["list_webhooks"];
        put?: never;
        /**
         * Create Webhook
         * @description The secret is in this answer only.
         */
        post: operations["create_webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Webhook */
        get: operations["read_webhook"];
        /** Replace Webhook */
        put: operations["replace_webhook"];
        post?: never;
        /** Delete Webhook */
        delete: operations["delete_webhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{webhook_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Call Webhook
         * @description For the other program: it signs the body with the webhook's secret, and needs no key.
         */
        post: operations["call_webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/word-lists": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Word Lists */
        get: operations["list_word_lists"];
        put?: never;
        /** Create Word List */
        post: operations["create_word_list"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/word-lists/{list_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Word List */
        get: operations["read_word_list"];
        /** Replace Word List */
        put: operations["replace_word_list"];
        post?: never;
        /** Delete Word List */
        delete: operations["delete_word_list"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Healthz
         * @description The process answers.
         */
        get: operations["healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Metrics
         * @description Figures since the start, for Prometheus; give its scraper a key with the scope viewer.
         */
        get: operations["read_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Readyz
         * @description Migrated, every plugin ready or failed, owed work picked up.
         */
        get: operations["readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description It is durable. */
        AcceptedEvent: {
            /**
             * @description The Host's own id of the conversation.
             * @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41
             */
            conversation_id: string;
            /** @description Whether it had come before; then nothing was done. */
            duplicate: boolean;
            event_id: string;
            /** @description Its number among all events. */
            seq: number;
        };
        /**
         * AccessRules
         * @description Who is answered. An entry is `group:42`, `person:7` (a private chat), `user:7` or `role:admin`; `*` is any id.
         */
        AccessRules: {
            /**
             * Entries
             * @default []
             */
            entries?: string[];
            /**
             * Mode
             * @default deny
             * @enum {string}
             */
            mode?: "deny" | "allow";
        };
        /** @description One of the platform's own actions. */
        ActionDeclaration: {
            description: string;
            here?: {
                [key: string]: "chat_id" | "group_id" | "request_id" | "interaction_id";
            };
            parameters?: {
                [key: string]: unknown;
            };
            /** @default false */
            read_only?: boolean;
        };
        /**
         * ActorBody
         * @description The sender. Unless the key's scope is `platform`, its id becomes `key:<key id>:<actor_id>` and a role in
         *     `metadata` is ignored.
         */
        ActorBody: {
            /** Actor Id */
            actor_id: string;
            /**
             * Actor Name
             * @default
             */
            actor_name?: string;
            /**
             * Actor Type
             * @default user
             */
            actor_type?: string;
            /**
             * Metadata
             * @default {}
             */
            metadata?: {
                [key: string]: unknown;
            };
        };
        AdapterManifest: {
            actions?: {
                [key: string]: components["schemas"]["ActionDeclaration"];
            };
            address_fields?: string[];
            /** @default false */
            buttons?: boolean;
            components: components["schemas"]["ComponentKinds"];
            config?: components["schemas"]["FormItem"][];
            connects_out?: string[];
            description: {
                [key: string]: string;
            };
            /**
             * @default plain
             * @enum {string}
             */
            dialect?: "plain" | "markdown" | "html";
            /** @default false */
            external?: boolean;
            /** @default  */
            icon?: string;
            /** @default false */
            idempotent?: boolean;
            label: {
                [key: string]: string;
            };
            /**
             * @default {
             *       "text": 4000,
             *       "text_unit": "characters",
             *       "sends_per_second": 20,
             *       "edits_per_second": 0,
             *       "group_calls_per_minute": 0,
             *       "chat_calls_per_minute": 0,
             *       "calls_per_second": 0,
             *       "file_bytes": 20971520,
             *       "buttons": 10,
             *       "button_label": 40
             *     }
             */
            limits?: components["schemas"]["PlatformLimits"];
            /**
             * @default
             * @enum {string}
             */
            login?: "" | "qr";
            /** @default  */
            mentions_everyone?: string;
            /**
             * @default chat
             * @enum {string}
             */
            message_ids?: "chat" | "account";
            modes: {
                [key: string]: components["schemas"]["Mode"];
            };
            name: string;
            not_supported?: {
                [key: string]: string;
            };
            seen_apis?: string[];
            servers?: components["schemas"]["ServerDeclaration"][];
            supported_apis: string[];
            supported_events: string[];
        };
        /**
         * AgentBody
         * @description Only name and runner_id are required.
         * @example {
         *       "name": "Helper",
         *       "runner_config": {
         *         "prompt": "Be brief."
         *       },
         *       "runner_id": "plugin:parlour/local-agent/default"
         *     }
         */
        AgentBody: {
            /**
             * Approval Policy
             * @default {}
             */
            approval_policy?: {
                [key: string]: ("allow" | "ask" | "deny") | components["schemas"]["ApprovalRuleBody"];
            };
            /**
             * @default {
             *       "tools": [],
             *       "read_only": false,
             *       "profile": "default",
             *       "session_template": "{launcher_type}_{launcher_id}",
             *       "ask": [],
             *       "author_skills": false,
             *       "host_path": ""
             *     }
             */
            box_policy?: components["schemas"]["BoxPolicyBody"];
            /**
             * Conversation Ttl
             * @default 0
             */
            conversation_ttl?: number;
            /**
             * @default {
             *       "streaming": true,
             *       "reply": "message",
             *       "max_message_size": 0,
             *       "thinking": "hidden",
             *       "mention_everyone": false
             *     }
             */
            delivery_policy?: components["schemas"]["DeliveryPolicyBody"];
            /**
             * Description
             * @default
             */
            description?: string;
            /**
             * Enabled
             * @default true
             */
            enabled?: boolean;
            /**
             * Event Types
             * @default [
             *       "message.received"
             *     ]
             */
            event_types?: string[];
            /**
             * Journal Calls
             * @default false
             */
            journal_calls?: boolean;
            /**
             * @default {
             *       "scope": "off",
             *       "consent": true,
             *       "max_entries": 200,
             *       "retention_days": 365
             *     }
             */
            memory_policy?: components["schemas"]["MemoryPolicyBody"];
            message_policy?: components["schemas"]["MessagePolicy"] | null;
            /** Name */
            name: string;
            /**
             * On Workers
             * @default false
             */
            on_workers?: boolean;
            /**
             * Published
             * @default []
             */
            published?: ("openai" | "mcp" | "a2a" | "agui")[];
            /**
             * @default {
             *       "models": [],
             *       "tools": [],
             *       "knowledge_bases": [],
             *       "skills": "*",
             *       "files": [],
             *       "plugins": "*",
             *       "mcp_servers": [],
             *       "storage": [
             *         "plugin",
             *         "binding"
             *       ],
             *       "cross_conversation_history": false,
             *       "rules": []
             *     }
             */
            resource_policy?: components["schemas"]["ResourcePolicyBody"];
            /**
             * Restart Policy
             * @default auto
             * @enum {string}
             */
            restart_policy?: "auto" | "never" | "always";
            /**
             * Runner Config
             * @default {}
             */
            runner_config?: {
                [key: string]: unknown;
            };
            /** Runner Id */
            runner_id: string;
            /**
             * Stale After
             * @default 600
             */
            stale_after?: number;
            /**
             * @default {
             *       "enabled": true,
             *       "scopes": [
             *         "conversation",
             *         "actor",
             *         "subject",
             *         "binding"
             *       ]
             *     }
             */
            state_policy?: components["schemas"]["StatePolicyBody"];
            /**
             * Timeout Seconds
             * @default 300
             */
            timeout_seconds?: number;
            /**
             * Tool Policy
             * @default []
             */
            tool_policy?: components["schemas"]["ToolRuleBody"][];
            /**
             * Worker Labels
             * @default []
             */
            worker_labels?: string[];
        };
        /**
         * AgentChange
         * @description What was read may be sent back with its changes.
         * @example {
         *       "name": "Helper",
         *       "runner_config": {
         *         "prompt": "Be brief."
         *       },
         *       "runner_id": "plugin:parlour/local-agent/default"
         *     }
         */
        AgentChange: {
            /**
             * Agent Id
             * @description If it is given, that of the address
             */
            agent_id?: string | null;
            /**
             * Approval Policy
             * @default {}
             */
            approval_policy?: {
                [key: string]: ("allow" | "ask" | "deny") | components["schemas"]["ApprovalRuleBody"];
            };
            /**
             * @default {
             *       "tools": [],
             *       "read_only": false,
             *       "profile": "default",
             *       "session_template": "{launcher_type}_{launcher_id}",
             *       "ask": [],
             *       "author_skills": false,
             *       "host_path": ""
             *     }
             */
            box_policy?: components["schemas"]["BoxPolicyBody"];
            /**
             * Conversation Ttl
             * @default 0
             */
            conversation_ttl?: number;
            /**
             * @default {
             *       "streaming": true,
             *       "reply": "message",
             *       "max_message_size": 0,
             *       "thinking": "hidden",
             *       "mention_everyone": false
             *     }
             */
            delivery_policy?: components["schemas"]["DeliveryPolicyBody"];
            /**
             * Description
             * @default
             */
            description?: string;
            /**
             * Enabled
             * @default true
             */
            enabled?: boolean;
            /**
             * Event Types
             * @default [
             *       "message.received"
             *     ]
             */
            event_types?: string[];
            /**
             * Journal Calls
             * @default false
             */
            journal_calls?: boolean;
            /**
             * @default {
             *       "scope": "off",
             *       "consent": true,
             *       "max_entries": 200,
             *       "retention_days": 365
             *     }
             */
            memory_policy?: components["schemas"]["MemoryPolicyBody"];
            message_policy?: components["schemas"]["MessagePolicy"] | null;
            /** Name */
            name: string;
            /**
             * On Workers
             * @default false
             */
            on_workers?: boolean;
            /**
             * Published
             * @default []
             */
            published?: ("openai" | "mcp" | "a2a" | "agui")[];
            /**
             * @default {
             *       "models": [],
             *       "tools": [],
             *       "knowledge_bases": [],
             *       "skills": "*",
             *       "files": [],
             *       "plugins": "*",
             *       "mcp_servers": [],
             *       "storage": [
             *         "plugin",
             *         "binding"
             *       ],
             *       "cross_conversation_history": false,
             *       "rules": []
             *     }
             */
            resource_policy?: components["schemas"]["ResourcePolicyBody"];
            /**
             * Restart Policy
             * @default auto
             * @enum {string}
             */
            restart_policy?: "auto" | "never" | "always";
            /**
             * Runner Config
             * @default {}
             */
            runner_config?: {
                [key: string]: unknown;
            };
            /** Runner Id */
            runner_id: string;
            /**
             * Stale After
             * @default 600
             */
            stale_after?: number;
            /**
             * @default {
             *       "enabled": true,
             *       "scopes": [
             *         "conversation",
             *         "actor",
             *         "subject",
             *         "binding"
             *       ]
             *     }
             */
            state_policy?: components["schemas"]["StatePolicyBody"];
            /**
             * Timeout Seconds
             * @default 300
             */
            timeout_seconds?: number;
            /**
             * Tool Policy
             * @default []
             */
            tool_policy?: components["schemas"]["ToolRuleBody"][];
            /**
             * Worker Labels
             * @default []
             */
            worker_labels?: string[];
        };
        /**
         * AgentInput
         * @description What was said to the agent; empty for an event that says nothing.
         */
        AgentInput: {
            /**
             * Attachments
             * @default []
             */
            attachments?: components["schemas"]["ArtifactRef"][];
            /**
             * Contents
             * @default []
             */
            contents?: (components["schemas"]["TextElement"] | components["schemas"]["MediaElement"] | components["schemas"]["JsonElement"] | components["schemas"]["QuoteElement"] | components["schemas"]["MentionElement"])[];
            /** Text */
            text?: string | null;
        };
        AgentResponse: {
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            agent_id: string;
            approval_policy: {
                [key: string]: unknown;
            };
            box_policy: components["schemas"]["BoxPolicyResponse"];
            /** @description Seconds of silence after which a chat begins anew; 0: never. */
            conversation_ttl: number;
            /** @description What differs from the defaults. */
            delivery_policy: {
                [key: string]: unknown;
            };
            description: string;
            enabled: boolean;
            event_types: string[];
            journal_calls: boolean;
            memory_policy: components["schemas"]["MemoryPolicyResponse"];
            /** @description The fields that were given. */
            message_policy: {
                [key: string]: unknown;
            };
            name: string;
            /** @description True if workers on other machines execute its runs. */
            on_workers: boolean;
            /** @description Doors through which clients of other standards may use it. */
            published: ("openai" | "mcp" | "a2a" | "agui")[];
            resource_policy: components["schemas"]["ResourcePolicyResponse"];
            /** @enum {string} */
            restart_policy: "auto" | "never" | "always";
            /** @description As the runner's form asks for it; a secret is masked, and stays as it is when it comes back so. */
            runner_config: {
                [key: string]: unknown;
            };
            /** @description Of GET /runners. */
            runner_id: string;
            /** @description Seconds after which an event is no longer answered; 0: never. */
            stale_after: number;
            state_policy: components["schemas"]["StatePolicyResponse"];
            /** @description 0: none. */
            timeout_seconds: number;
            /**
             * @description The first entry that matches a tool decides about its calls.
             *
             *     Without one they are allowed, except that in groups tools of MCP servers that are not read-only are asked about.
             */
            tool_policy: components["schemas"]["ToolRuleResponse"][];
            worker_labels: string[];
        };
        /**
         * AgentTestBody
         * @description The configuration of an agent that need not be stored.
         */
        AgentTestBody: {
            /**
             * Agent Id
             * @description Its stored secrets stand for masked ones
             */
            agent_id?: string | null;
            /**
             * Runner Config
             * @default {}
             */
            runner_config?: {
                [key: string]: unknown;
            };
            /** Runner Id */
            runner_id: string;
        };
        AgentTestResponse: {
            /** @description Empty if the configuration works; otherwise the code that a run would fail with. */
            code: string;
            /** @description What answered, or exactly what is wrong. */
            message: string;
            milliseconds: number;
            ok: boolean;
        };
        ApiKey: {
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            expires_at: number | null;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            key_id: string;
            /** @description Labels that a worker with this key may have. */
            labels: string[];
            /** @description To the hour */
            last_used_at: number | null;
            name: string;
            revoked_at: number | null;
            /** @description Runners that a worker with this key may execute; empty for any. */
            runners: string[];
            /** @enum {string} */
            scope: "admin" | "operator" | "viewer" | "chat" | "platform" | "mcp" | "worker";
        };
        ApprovalResponse: {
            action: string;
            agent_id: string;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            approval_id: string;
            /** @description Exactly what will be done. */
            call: {
                [key: string]: unknown;
            };
            conversation_id: string;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            decided_at: number | null;
            decided_by: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            expires_at: number;
            hash: string;
            /** @description What the people of the chat answer with. */
            keyword: string;
            /** @description Null once the event that led to it was deleted. */
            occasion: components["schemas"]["OccasionResponse"] | null;
            outbox_id: string | null;
            /** @description What came of it, once it was carried out. */
            outcome: {
                [key: string]: unknown;
            } | null;
            reason: string | null;
            requester: string;
            run_id: string;
            /** @enum {string} */
            status: "pending" | "approved" | "denied" | "expired";
            /** @description Who may decide in the chat. */
            who: {
                [key: string]: unknown;
            };
            /** @description What is asked, as the chat was told. */
            words: string;
        };
        /** ApprovalRuleBody */
        ApprovalRuleBody: {
            /**
             * Decision
             * @enum {string}
             */
            decision: "allow" | "ask" | "deny";
            /**
             * Seconds
             * @default 1800
             */
            seconds?: number;
            show_in?: components["schemas"]["TargetBody"] | null;
            /**
             * @default {
             *       "users": [],
             *       "roles": [
             *         "owner",
             *         "admin"
             *       ],
             *       "requester": false
             *     }
             */
            who?: components["schemas"]["DecidersBody"];
        };
        /**
         * ArtifactRef
         * @description Names a file, medium or large result that the Host keeps.
         */
        ArtifactRef: {
            /** Artifact Id */
            artifact_id: string;
            /** Artifact Type */
            artifact_type: string;
            /** Expires At */
            expires_at?: number | null;
            /** Mime Type */
            mime_type?: string | null;
            /** Name */
            name?: string | null;
            /** Sha256 */
            sha256?: string | null;
            /** Size Bytes */
            size_bytes?: number | null;
            /** Summary */
            summary?: string | null;
        };
        ArtifactResponse: {
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            artifact_id: string;
            artifact_type: string;
            conversation_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            expires_at: number | null;
            metadata: {
                [key: string]: unknown;
            };
            mime_type: string | null;
            name: string | null;
            run_id: string | null;
            runner_id: string | null;
            sha256: string | null;
            /** @description Null while its content was not fetched */
            size_bytes: number | null;
            source: string;
        };
        AuditEntry: {
            action: string;
            actor: string;
            code: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            /** @description Of a change, what was before and after, without secrets; of repeated refusals (code `repeated`), their count. */
            detail: unknown;
            /** @enum {string} */
            kind: "access" | "admin" | "runtime" | "box" | "memory" | "door";
            outcome: string;
            plugin_id: string | null;
            resource: string | null;
            run_id: string | null;
            runner_id: string | null;
            scope: string | null;
            seq: number;
        };
        /**
         * BaseSettingsBody
         * @description How files are cut, and how the base is searched.
         */
        BaseSettingsBody: {
            /**
             * Chunk Size
             * @default 400
             */
            chunk_size?: number;
            /**
             * Chunker
             * @default general
             * @enum {string}
             */
            chunker?: "general" | "qa" | "rows";
            /**
             * Overlap
             * @default 60
             */
            overlap?: number;
            /**
             * Parsers
             * @default {}
             */
            parsers?: {
                [key: string]: string;
            };
            /**
             * @default {
             *       "mode": "hybrid",
             *       "top_k": 5,
             *       "min_score": 0.18,
             *       "weight": 0.5,
             *       "rerank_model": "",
             *       "rerank_top_k": 20,
             *       "neighbours": 0
             *     }
             */
            retrieval?: components["schemas"]["RetrievalBody"];
        };
        BotAddresses: {
            /** @description Null if the public address of the Host is not set. */
            callback: string | null;
            /** @description The addresses from which this Host calls the platform, for its allowlist. */
            outbound_ips: string[];
            /** @description The platform calls this bot, so that its console needs the callback address. */
            takes_calls: boolean;
        };
        /**
         * BotBody
         * @description `adapter_config` is what the adapter's form asks for. A secret that is left out stays as it is.
         * @example {
         *       "adapter": "onebot11",
         *       "adapter_config": {
         *         "mode": "reverse",
         *         "port": 6700
         *       },
         *       "name": "Our QQ bot"
         *     }
         */
        BotBody: {
            /** Adapter */
            adapter: string;
            /**
             * Adapter Config
             * @default {}
             */
            adapter_config?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Enabled
             * @default true
             */
            enabled?: boolean;
            /**
             * Keeps Heard Messages
             * @description Messages of groups that don't address the bot are kept for `retention.heard_days`, for its agents
             * @default true
             */
            keeps_heard_messages?: boolean;
            /** Name */
            name: string;
        };
        /**
         * BotChange
         * @description What was read may be sent back with its changes: what is only told is not looked at.
         * @example {
         *       "adapter": "onebot11",
         *       "adapter_config": {
         *         "mode": "reverse",
         *         "port": 6700
         *       },
         *       "name": "Our QQ bot"
         *     }
         */
        BotChange: {
            /** Adapter */
            adapter: string;
            /**
             * Adapter Config
             * @default {}
             */
            adapter_config?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Bot Id
             * @description If it is given, that of the address
             */
            bot_id?: string | null;
            /**
             * Enabled
             * @default true
             */
            enabled?: boolean;
            /**
             * Keeps Heard Messages
             * @description Messages of groups that don't address the bot are kept for `retention.heard_days`, for its agents
             * @default true
             */
            keeps_heard_messages?: boolean;
            /** Name */
            name: string;
            /**
             * Secrets Set
             * @description Only told
             */
            secrets_set?: unknown[] | null;
            /**
             * Status
             * @description Only told
             */
            status?: {
                [key: string]: unknown;
            } | null;
        };
        BotResponse: {
            /** @description Of GET /adapters. */
            adapter: string;
            /** @description Without secrets. */
            adapter_config: {
                [key: string]: unknown;
            };
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            bot_id: string;
            enabled: boolean;
            /** @description Messages of groups that don't address the bot are kept for its agents. */
            keeps_heard_messages: boolean;
            name: string;
            /** @description Which secrets there are. */
            secrets_set: string[];
            status: components["schemas"]["BotStatus"];
        };
        BotStatus: {
            /** @description In words, with what to do about it. */
            last_error: string | null;
            since: number | null;
            /** @enum {string} */
            state: "stopped" | "connecting" | "connected" | "failed";
        };
        BoxAuditResponse: {
            action: string;
            actor: string;
            agent_id: string | null;
            code: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            /** @description The command or the path, when it started and finished, and the result. */
            detail: unknown;
            outcome: string;
            run_id: string | null;
            seq: number;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            session_id: string;
        };
        BoxBackendResponse: {
            /** @enum {string} */
            backend: "bubblewrap" | "podman" | "docker" | "nsjail" | "e2b";
            /** @description The command that helps on this machine, if it is known. */
            command: string | null;
            /**
             * @description Its program is missing, its engine does not run, its socket is not for this user, its image is missing, or a
             *     sandbox did not start.
             * @enum {string}
             */
            problem: "not_installed" | "stopped" | "denied" | "no_image" | "failed";
            reason: string;
            remedy: string;
        };
        BoxErrorResponse: {
            action: string;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            at: number;
            code: string;
            message: string;
            session_id: string | null;
        };
        BoxFileResponse: {
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            changed_at: number;
            /** @enum {string} */
            kind: "file" | "folder" | "link";
            name: string;
            size: number;
        };
        BoxFilesResponse: {
            items: components["schemas"]["BoxFileResponse"][];
            /** @description Entries that are left out. */
            more: number;
        };
        /**
         * BoxPolicyBody
         * @description What the agent may do in the Box; without tools it gets nothing.
         */
        BoxPolicyBody: {
            /**
             * Ask
             * @default []
             */
            ask?: string[];
            /**
             * Author Skills
             * @description It may install skills, and change those it has installed.
             * @default false
             */
            author_skills?: boolean;
            /**
             * Host Path
             * @description File or folder of the machine that its sandbox shows read-only, at the same path; most profiles lock it
             * @default
             */
            host_path?: string;
            /**
             * Network
             * @description Null: as in the profile.
             */
            network?: boolean | null;
            /**
             * Profile
             * @default default
             * @enum {string}
             */
            profile?: "default" | "offline_readonly" | "network_basic" | "network_extended";
            /**
             * Read Only
             * @default false
             */
            read_only?: boolean;
            /**
             * Session Template
             * @default {launcher_type}_{launcher_id}
             */
            session_template?: string;
            /**
             * Tools
             * @default []
             */
            tools?: ("exec" | "read" | "write" | "edit" | "glob" | "grep")[];
        };
        BoxPolicyResponse: {
            /** @description Patterns of commands that need an approval. */
            ask: string[];
            author_skills: boolean;
            /** @description File or folder of the machine that its sandbox shows read-only; empty for none. */
            host_path: string;
            /** @description Null: as in the profile. */
            network: boolean | null;
            profile: string;
            read_only: boolean;
            /** @description Which messages share a sandbox. */
            session_template: string;
            tools: string[];
        };
        BoxProbeResponse: {
            detail: string;
            milliseconds: number;
            name: string;
            ok: boolean;
        };
        BoxProcessResponse: {
            attached: boolean;
            command: string[];
            /** @description Names of its variables. */
            environment: string[];
            exit_code: number | null;
            exited_at: number | null;
            process_id: string;
            /** @description Why the Box stopped it. */
            reason: string;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            started_at: number;
            /** @enum {string} */
            status: "running" | "exited";
            /** @description The end of what it wrote to its error output. */
            stderr_preview: string;
        };
        BoxSessionResponse: {
            busy: boolean;
            cpus: number;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            execs: number;
            /** @description None for a sandbox that is kept. */
            expires_at: number | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            last_used_at: number;
            memory_mb: number;
            network: boolean;
            process_list: components["schemas"]["BoxProcessResponse"][];
            processes: number;
            /**
             * @description What limits its workspace: an image file, memory, or a watcher.
             * @enum {string}
             */
            quota: "loop" | "tmpfs" | "project" | "advisory";
            read_only: boolean;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            session_id: string;
            /** @enum {string} */
            state: "starting" | "ready" | "stopping";
            /** @description The session template of the agent, filled in. */
            title: string;
        };
        BoxStatusResponse: {
            backend: string | null;
            /** @description The command that does it on this machine, if it is known. */
            command: string | null;
            /** @description The session template that all agents use, if one is set. */
            force_template: string | null;
            /** @description What limits memory, processes and CPU: cgroup2, cgroup1 or rlimit. */
            limits: string | null;
            max_sessions: number;
            /** @description What does not hold on this machine. */
            notice: string | null;
            /**
             * @description What limits the size of a workspace: loop (the kernel, by an image file), project (the kernel, by a project
             *     quota), remote (the service) or advisory (it is watched).
             */
            quota: string | null;
            reason: string | null;
            /** @description The backends that were tried and do not work here, in their order. */
            refused: components["schemas"]["BoxBackendResponse"][];
            /** @description What makes it available. */
            remedy: string | null;
            sessions: number;
            /** @enum {string} */
            status: "disabled" | "connecting" | "unavailable" | "ready";
            version: string | null;
        };
        BoxTestResponse: {
            checks: components["schemas"]["BoxProbeResponse"][];
            ok: boolean;
        };
        /** BroadcastBody */
        BroadcastBody: {
            /** Message */
            message: string;
        };
        BroadcastResponse: {
            /** @description How many saw it. */
            connections: number;
        };
        /**
         * BudgetBody
         * @description At least one limit. `target` is one sender, conversation or agent; without it each has as much.
         * @example {
         *       "name": "A person a day",
         *       "period": "day",
         *       "scope": "sender",
         *       "tokens": 100000
         *     }
         */
        BudgetBody: {
            /** Cost Micros */
            cost_micros?: number | null;
            /**
             * Enabled
             * @default true
             */
            enabled?: boolean;
            /** Name */
            name: string;
            /**
             * Period
             * @default day
             * @enum {string}
             */
            period?: "day" | "total";
            /**
             * Scope
             * @enum {string}
             */
            scope: "sender" | "conversation" | "agent" | "workspace";
            /**
             * Target
             * @default
             */
            target?: string;
            /** Tokens */
            tokens?: number | null;
        };
        BudgetResponse: {
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            budget_id: string;
            cost_micros: number | null;
            current_period: string;
            enabled: boolean;
            name: string;
            /** @enum {string} */
            period: "day" | "total";
            /** @enum {string} */
            scope: "sender" | "conversation" | "agent" | "workspace";
            target: string;
            tokens: number | null;
            /** @description Of its current period, the most first. */
            uses: components["schemas"]["BudgetUse"][];
        };
        BudgetUse: {
            left: components["schemas"]["Remaining"];
            /** @description Who used it: a sender, conversation, agent, or the workspace. */
            subject: string;
            used: components["schemas"]["Spent"];
        };
        /** @description A plugin that comes with Parlour. */
        BundledPluginResponse: {
            description: {
                [key: string]: string;
            } | null;
            /** @description A data URL. */
            icon: string | null;
            /** @description `author/name`. */
            id: string;
            /** @description Null if it is not installed. */
            installed_version: string | null;
            label: {
                [key: string]: string;
            } | null;
            /** @description What to install it from. */
            source: string;
            version: string;
        };
        CallbackCheckResponse: {
            /** @description In words, with what to do about it. */
            message: string;
            /** @enum {string} */
            outcome: "reached" | "no_address" | "unreachable" | "redirected" | "other_server" | "private_address";
            /** @description HTTP status of the answer. */
            status: number | null;
        };
        /** @description What a runner can do. Drives the interface and what is projected to it; grants nothing. */
        Capabilities: {
            /** @default false */
            connection_test?: boolean;
            /** @default false */
            interrupt?: boolean;
            /** @default false */
            knowledge_retrieval?: boolean;
            /** @default false */
            multimodal_input?: boolean;
            /** @default false */
            platform_actions?: boolean;
            /** @default false */
            reports_usage?: boolean;
            /** @default false */
            skill_authoring?: boolean;
            /** @default false */
            skills?: boolean;
            /** @default false */
            steering?: boolean;
            /** @default false */
            streaming?: boolean;
            /** @default false */
            tool_calling?: boolean;
        };
        /**
         * ChangeBody
         * @description What is named is changed.
         */
        ChangeBody: {
            /** Enabled */
            enabled?: boolean | null;
            /** Granted */
            granted?: string[] | null;
        };
        /** ChangedUser */
        ChangedUser: {
            /** Enabled */
            enabled?: boolean | null;
            /** Name */
            name?: string | null;
            /** Password */
            password?: string | null;
            /** Role */
            role?: ("owner" | "admin" | "operator" | "viewer") | null;
        };
        /**
         * ChunkChangeBody
         * @description The parts of a passage that change.
         */
        ChunkChangeBody: {
            /** Enabled */
            enabled?: boolean | null;
            /** Hints */
            hints?: string | null;
            /** Text */
            text?: string | null;
        };
        ChunkResponse: {
            char_end: number;
            char_start: number;
            chunk_id: string;
            enabled: boolean;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            file_id: string;
            heading: string | null;
            hints: string | null;
            /** @description `file`, `edited`, or `added` by a person. */
            origin: string;
            page: number | null;
            position: number;
            text: string;
            tokens: number;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            updated_at: number;
        };
        /** @description Kinds of chain components that come in and go out. */
        ComponentKinds: {
            receive: string[];
            send: string[];
        };
        ConnectionResponse: {
            /** @description Whose session it is: `user:` or `key:` and an id. */
            owner: string;
            session: string;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            since: number;
        };
        /**
         * ContextRules
         * @description What the agent reads besides the text of the message.
         */
        ContextRules: {
            /**
             * Quote
             * @default include
             * @enum {string}
             */
            quote?: "include" | "ignore";
            /**
             * Sender Names
             * @default false
             */
            sender_names?: boolean;
        };
        ConversationResponse: {
            agent_id: string | null;
            bot_id: string | null;
            /** @description As its platform or its caller names it. */
            chat: string | null;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            conversation_id: string;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            /** @description How much was said. */
            items: number;
            /** @description `webui`, `api`, or the adapter's name. */
            source: string;
            thread_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            updated_at: number;
            workspace_id: string;
        };
        /** Credentials */
        Credentials: {
            /** Email */
            email: string;
            /** Password */
            password: string;
        };
        /**
         * DecidersBody
         * @description Who may decide: users by their ids, members of the group by their roles, and perhaps the requester.
         */
        DecidersBody: {
            /**
             * Requester
             * @default false
             */
            requester?: boolean;
            /**
             * Roles
             * @default [
             *       "owner",
             *       "admin"
             *     ]
             */
            roles?: ("owner" | "admin" | "member")[];
            /**
             * Users
             * @default []
             */
            users?: string[];
        };
        DecidersResponse: {
            requester: boolean;
            roles: string[];
            users: string[];
        };
        /**
         * DecisionBody
         * @example {
         *       "decision": "deny",
         *       "reason": "not today"
         *     }
         */
        DecisionBody: {
            /**
             * Decision
             * @enum {string}
             */
            decision: "approve" | "always" | "deny";
            /**
             * Reason
             * @default
             */
            reason?: string;
        };
        /**
         * DefaultAgentBody
         * @description A thread is named by `bot_id`, `chat` and `thread_id`, a conversation by `bot_id` and `chat`, a channel by
         *     `platform` and `chat`, an actor by `platform` and `actor_id`, the workspace by nothing.
         * @example {
         *       "agent_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e42",
         *       "bot_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41",
         *       "chat": "group:42",
         *       "scope": "conversation"
         *     }
         */
        DefaultAgentBody: {
            /**
             * Actor Id
             * @default
             */
            actor_id?: string;
            /** Agent Id */
            agent_id: string;
            /**
             * Bot Id
             * @default
             */
            bot_id?: string;
            /**
             * Chat
             * @default
             */
            chat?: string;
            /**
             * Platform
             * @default
             */
            platform?: string;
            /**
             * Replaces
             * @default
             */
            replaces?: string;
            /**
             * Scope
             * @enum {string}
             */
            scope: "thread" | "conversation" | "channel" | "actor" | "workspace";
            /**
             * Thread Id
             * @default
             */
            thread_id?: string;
        };
        /** @description What its scope does not need is null. */
        DefaultAgentResponse: {
            actor_id: string | null;
            agent_enabled: boolean;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            agent_id: string;
            agent_name: string;
            bot_id: string | null;
            bot_name: string | null;
            /** @description As its platform names it, such as `group:42`. */
            chat: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            default_id: string;
            platform: string | null;
            /** @enum {string} */
            scope: "thread" | "conversation" | "channel" | "actor" | "workspace";
            thread_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            updated_at: number;
        };
        /** DeliveryPolicyBody */
        DeliveryPolicyBody: {
            fallback_target?: components["schemas"]["TargetBody"] | null;
            /**
             * Max Message Size
             * @description 0 for the platform's own, else at least 100.
             * @default 0
             */
            max_message_size?: number;
            /**
             * Mention Everyone
             * @default false
             */
            mention_everyone?: boolean;
            /**
             * Reply
             * @default message
             * @enum {string}
             */
            reply?: "message" | "quote";
            /**
             * Streaming
             * @default true
             */
            streaming?: boolean;
            /**
             * Thinking
             * @default hidden
             * @enum {string}
             */
            thinking?: "hidden" | "shown";
        };
        /** @description Something that was to be shown to people. */
        DeliveryResponse: {
            attempts: number;
            bot_id: string | null;
            conversation_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            /** @enum {string} */
            kind: "message" | "notice" | "approval" | "action";
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            outbox_id: string;
            platform_message_id: string | null;
            /** @description Whether the first try arrived is not known. */
            possibly_repeated: boolean;
            /** @description Why it was not sent. */
            reason: string | null;
            /** @enum {string} */
            state: "pending" | "streaming" | "sending" | "held" | "sent" | "failed" | "expired";
            /** @description Where: `webui`, `api` or `platform`. */
            surface: string;
            target: string;
            text: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            updated_at: number;
        };
        /** @description Something that the run asked for and did not get. */
        Denial: {
            action: string;
            code: string;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            outcome: string;
            resource: string | null;
            scope: string | null;
        };
        DryRun: {
            /** @description Who would answer. */
            agent_id: string | null;
            /** @enum {string} */
            handler_type: "agent" | "pipeline" | "webhook" | "plugin" | "drop";
            /** @description Its place in the list. */
            index: number | null;
            /** @description What each route that was looked at said, then the default agent, and what comes of it. */
            reasons: string[];
            /** @description The one that takes the event; null when none does, and listeners of plugins or a default agent hear of it. */
            route: components["schemas"]["RouteResponse"] | null;
            /** @description Whose claim that is: `bot` is a route's, the others are default agents'. */
            scope: ("thread" | "conversation" | "channel" | "actor" | "bot" | "workspace") | null;
            /** @description The same, for those who say it in another language. */
            steps: components["schemas"]["DryRunStep"][];
        };
        /**
         * DryRunBody
         * @example {
         *       "event": {
         *         "sender": {
         *           "id": "7"
         *         },
         *         "text": "hello",
         *         "type": "message.received"
         *       }
         *     }
         */
        DryRunBody: {
            /** Event */
            event: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** Routes */
            routes?: components["schemas"]["RouteBody"][] | components["schemas"]["RoutePage"] | null;
        };
        DryRunStep: {
            /** @description By which others say it in another language, with these values. */
            code: string;
            /**
             * @description A route, the default agent, or what comes of it.
             * @enum {string}
             */
            kind: "route" | "default" | "outcome";
            /** @description Of the route, or the default agent's scope. */
            name: string;
            /** @description The same in words. */
            text: string;
            values: {
                [key: string]: unknown;
            };
        };
        /**
         * EmbeddingBody
         * @description A configured embedding model. Without one, texts are embedded offline.
         */
        EmbeddingBody: {
            /** Model Id */
            model_id: string;
        };
        EmbeddingResponse: {
            /** @description Null: texts are embedded offline. */
            model_id: string | null;
            /** @description The model whose vectors are being made; they replace the others when they are complete. */
            next_model_id?: string | null;
        };
        EngineListResponse: {
            items: components["schemas"]["EngineResponse"][];
            next_cursor: null;
        };
        EngineResponse: {
            config_schema: {
                [key: string]: unknown;
            }[];
            /**
             * @description A text by language
             * @example {
             *       "en": "Echo",
             *       "zh_Hans": "回声"
             *     }
             */
            description: {
                [key: string]: string;
            };
            engine: string;
            /** @description What it takes of a file: `text`, `content`, or `none` if it has its own documents. */
            files: string;
            /**
             * @description A text by language
             * @example {
             *       "en": "Echo",
             *       "zh_Hans": "回声"
             *     }
             */
            label: {
                [key: string]: string;
            };
            retrieval_schema: {
                [key: string]: unknown;
            }[];
        };
        Error: {
            error: {
                /** @example not_found */
                code: string;
                /** @description For a validation error, `fields` with a sentence each */
                details: unknown;
                /** @description A sentence that a person can act on */
                message: string;
            };
        };
        /**
         * EventBody
         * @description `conversation_id` is the caller's own name for the chat; `event_id` its idempotency key.
         * @example {
         *       "agent_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41",
         *       "conversation_id": "my chat",
         *       "input": {
         *         "text": "Hello!"
         *       }
         *     }
         */
        EventBody: {
            actor?: components["schemas"]["ActorBody"] | null;
            /** Agent Id */
            agent_id?: string | null;
            /** Bot Id */
            bot_id?: string | null;
            /** Conversation Id */
            conversation_id?: string | null;
            /**
             * Data
             * @default {}
             */
            data?: {
                [key: string]: unknown;
            };
            /** Event Id */
            event_id?: string | null;
            /**
             * Event Type
             * @default message.received
             */
            event_type?: string;
            /**
             * @default {
             *       "contents": [],
             *       "attachments": []
             *     }
             */
            input?: components["schemas"]["AgentInput"];
            subject?: components["schemas"]["SubjectBody"] | null;
            /** Thread Id */
            thread_id?: string | null;
        };
        EventResponse: {
            actor_id: string | null;
            actor_name: string | null;
            actor_type: string | null;
            bot_id: string | null;
            conversation_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            data: {
                [key: string]: unknown;
            };
            event_id: string;
            event_time: number | null;
            event_type: string;
            /** @description How its text begins. */
            input_summary: string | null;
            metadata: {
                [key: string]: unknown;
            };
            seq: number;
            source: string;
            subject_id: string | null;
            subject_type: string | null;
            thread_id: string | null;
            workspace_id: string;
        };
        EventResult: {
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            conversation_id: string;
            event_id: string;
            /** @description What was said to it: `role`, `content` and more. */
            messages: {
                [key: string]: unknown;
            }[];
            /** @description What became of it: `answered`, `silent`, `failed` and so on. */
            outcome: string;
            reason: string | null;
            run: components["schemas"]["RunRecord"] | null;
        };
        /**
         * FailureText
         * @description What the sender reads if the agent fails.
         */
        FailureText: {
            /**
             * Hint
             * @default
             */
            hint?: string;
            /**
             * Show
             * @default hint
             * @enum {string}
             */
            show?: "hint" | "error" | "nothing";
        };
        FeedbackResponse: {
            agent_id: string | null;
            bot_id: string | null;
            conversation_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            feedback_content: string | null;
            feedback_id: string;
            /** @description 1: good, 2: bad. */
            feedback_type: number;
            inaccurate_reasons: string[];
            message_id: string | null;
            run_id: string | null;
            session_id: string | null;
            stream_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            updated_at: number;
            user_id: string | null;
        };
        /** @description Counts by a short name, such as `events.message.received`, `runs.completed`, `prompt_tokens`, `cost_micros`. */
        Figures: {
            completion_tokens?: number;
            /** @description Millionths of the currency */
            cost_micros?: number;
            model_calls?: number;
            prompt_tokens?: number;
            run_milliseconds?: number;
            tool_calls?: number;
            unpriced_calls?: number;
        } & {
            [key: string]: unknown;
        };
        FileErrorResponse: {
            code: string;
            message: string;
        };
        /**
         * Filters
         * @description Filters of messages and replies, applied in this order.
         */
        Filters: {
            /**
             * Input
             * @default []
             */
            input?: (components["schemas"]["InputWords"] | components["schemas"]["InputRegex"] | components["schemas"]["InputModeration"] | components["schemas"]["InputPlugin"])[];
            /**
             * Output
             * @default []
             */
            output?: (components["schemas"]["OutputWords"] | components["schemas"]["OutputRegex"] | components["schemas"]["OutputModeration"] | components["schemas"]["OutputPlugin"])[];
        };
        /**
         * FiltersBody
         * @description All optional; those that are given must all hold.
         */
        FiltersBody: {
            /** Chat Type */
            chat_type?: ("private" | "group") | null;
            /** Data */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /** Groups */
            groups?: string[] | null;
            /** Mentions Bot */
            mentions_bot?: boolean | null;
            /** Probability */
            probability?: number | null;
            /** Roles */
            roles?: ("owner" | "admin" | "member")[] | null;
            /** Text Keyword */
            text_keyword?: string | string[] | null;
            /** Text Prefix */
            text_prefix?: string | string[] | null;
            /** Text Regex */
            text_regex?: string | null;
            time_window?: components["schemas"]["TimeWindow"] | null;
            /** Users */
            users?: string[] | null;
        };
        /** FirstOwner */
        FirstOwner: {
            /** Email */
            email: string;
            /**
             * Name
             * @default
             */
            name?: string;
            /** Password */
            password: string;
            /**
             * Token
             * @default
             */
            token?: string;
        };
        /** @description One setting of a form. What a selector selects is added to a run's grants. */
        FormItem: {
            /** @default null */
            default?: unknown;
            /** @default null */
            description?: {
                [key: string]: string;
            } | null;
            /** @default false */
            display?: boolean;
            label: {
                [key: string]: string;
            };
            /** @default null */
            maximum?: number | null;
            /** @default null */
            minimum?: number | null;
            name: string;
            /** @default null */
            options?: components["schemas"]["FormOption"][] | null;
            /** @default false */
            required?: boolean;
            /** @default null */
            show_if?: {
                [key: string]: unknown;
            } | null;
            /** @enum {string} */
            type: "string" | "text" | "secret" | "integer" | "number" | "boolean" | "select" | "multi-select" | "json" | "prompt-editor" | "llm-model-selector" | "model-fallback-selector" | "rerank-model-selector" | "embedding-model-selector" | "knowledge-base-multi-selector" | "tool-multi-selector" | "skill-multi-selector" | "file" | "array[file]" | "array[string]";
        };
        /** @description One choice of a select. */
        FormOption: {
            /** @default null */
            label?: {
                [key: string]: string;
            } | null;
            value: string;
        };
        FoundPassageResponse: {
            chunk_id: string;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            file_id: string;
            file_name: string;
            heading: string | null;
            metadata: {
                [key: string]: unknown;
            };
            page: number | null;
            parts?: {
                [key: string]: number;
            };
            position: number;
            score: number;
            text: string;
        };
        /**
         * Gather
         * @description Collects messages that are sent in quick succession into one run.
         */
        Gather: {
            /**
             * Longest
             * @default 15
             */
            longest?: number;
            /**
             * Messages
             * @default 10
             */
            messages?: number;
            /**
             * Per
             * @default sender
             * @enum {string}
             */
            per?: "sender" | "chat";
            /**
             * Seconds
             * @default 0
             */
            seconds?: number;
        };
        /**
         * GroupWake
         * @description Which messages of groups are answered: those that one of these rules matches.
         */
        GroupWake: {
            /**
             * Keywords
             * @default []
             */
            keywords?: string[];
            /**
             * Mention
             * @default true
             */
            mention?: boolean;
            /**
             * Prefixes
             * @default []
             */
            prefixes?: string[];
            /**
             * Probability
             * @default 0
             */
            probability?: number;
            /**
             * Regexes
             * @default []
             */
            regexes?: string[];
            /**
             * Reply To Bot
             * @default true
             */
            reply_to_bot?: boolean;
            /**
             * Strip
             * @default true
             */
            strip?: boolean;
        };
        HealthResponse: {
            /** @constant */
            status: "ok";
        };
        /** @description A Host of the cluster. One that was fenced is listed for a day. */
        HostResponse: {
            /** @description Where the other Hosts reach it. */
            address: string | null;
            /** @description True for the Host that answers this request. */
            answers_this: boolean;
            fenced_at: number | null;
            /**
             * @description How it is doing, in one word that the page explains.
             * @enum {string}
             */
            health: "healthy" | "unreachable" | "late" | "draining" | "drained" | "ended";
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            host_id: string;
            /** @description When its lease ends unless it is renewed, by the clock of the database; null if it was fenced. */
            lease_until: number | null;
            name: string;
            /** @description What it owns: bots, shares of the conversations without a bot, and duties. */
            parts: string[];
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            started_at: number;
            /** @enum {string} */
            state: "live" | "draining" | "fenced";
            version: string;
        };
        /** @description What happened in an hour: counts by a short name. */
        HourlyFigures: {
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            hour: number;
        } & {
            [key: string]: unknown;
        };
        /**
         * IgnoreRules
         * @description Messages that are never answered, in groups and private chats.
         */
        IgnoreRules: {
            /**
             * Bots
             * @default true
             */
            bots?: boolean;
            /**
             * Prefixes
             * @default []
             */
            prefixes?: string[];
            /**
             * Regexes
             * @default []
             */
            regexes?: string[];
        };
        Info: {
            /** @description The code of the currency that costs are in; empty where the providers' prices are in several, or unknown. */
            currency: string;
            /** @description What this Host can do. */
            features: {
                [key: string]: boolean;
            };
            limits: components["schemas"]["SizeLimitsResponse"];
            /** @description Addresses that this Host reaches platforms from. */
            outbound_ips: string[];
            /** @description The edition of the protocol. */
            protocol: number;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            time: number;
            time_zone: string;
            version: string;
        };
        /** InputModeration */
        InputModeration: {
            config: components["schemas"]["ModerationConfig"];
            /**
             * On
             * @default block
             * @enum {string}
             */
            on?: "block" | "flag";
            /**
             * Tell
             * @default
             */
            tell?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            use: "moderation";
        };
        /** InputPlugin */
        InputPlugin: {
            config: components["schemas"]["PluginFilterConfig"];
            /**
             * On
             * @default block
             * @enum {string}
             */
            on?: "block" | "flag";
            /**
             * Tell
             * @default
             */
            tell?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            use: "plugin";
        };
        /** InputRegex */
        InputRegex: {
            config: components["schemas"]["RegexConfig"];
            /**
             * On
             * @default block
             * @enum {string}
             */
            on?: "block" | "mask" | "flag";
            /**
             * Tell
             * @default
             */
            tell?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            use: "regex";
        };
        /** InputWords */
        InputWords: {
            config: components["schemas"]["WordsConfig"];
            /**
             * On
             * @default block
             * @enum {string}
             */
            on?: "block" | "mask" | "flag";
            /**
             * Tell
             * @default
             */
            tell?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            use: "words";
        };
        InstalledSkillsResponse: {
            items: components["schemas"]["SkillResponse"][];
        };
        /** @description How far a job is; empty texts and zeros where its kind reports nothing. */
        JobProgressResponse: {
            done: number;
            message: string;
            stage: string;
            /** @description 0 if the total is not known. */
            total: number;
        };
        JobResponse: {
            attempts: number;
            cancel_requested_at: number | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            /** @description Why the last attempt failed. */
            error: string | null;
            /** @description Number of the event that the job is about. */
            event_seq: number | null;
            finished_at: number | null;
            /** @description Attempts that a stop of the Host ended; it is not known how far they came. */
            interruptions: number;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            job_id: string;
            /** @description Jobs of one kind with the same key run one after the other. */
            key: string;
            kind: string;
            /** @description Null if attempts have no limit. */
            max_attempts: number | null;
            next_attempt_at: number | null;
            progress: components["schemas"]["JobProgressResponse"];
            started_at: number | null;
            /** @enum {string} */
            state: "pending" | "running" | "done" | "failed" | "cancelled";
        };
        /**
         * JsonElement
         * @description Structured data.
         */
        JsonElement: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "json";
            /** Value */
            value?: unknown;
        };
        JsonValue: unknown;
        KeyPrincipalResponse: {
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            key_id: string;
            /** @constant */
            kind: "key";
            name: string;
            scope: string;
        };
        /** KnowledgeBaseBody */
        KnowledgeBaseBody: {
            /**
             * Description
             * @default
             */
            description?: string;
            embedding?: components["schemas"]["EmbeddingBody"] | null;
            /**
             * Emoji
             * @default
             */
            emoji?: string;
            /**
             * Engine
             * @default builtin
             */
            engine?: string;
            /**
             * Engine Config
             * @default {}
             */
            engine_config?: {
                [key: string]: unknown;
            };
            /**
             * Engine Settings
             * @default {}
             */
            engine_settings?: {
                [key: string]: unknown;
            };
            /** Name */
            name: string;
            /**
             * @default {
             *       "chunker": "general",
             *       "chunk_size": 400,
             *       "overlap": 60,
             *       "parsers": {},
             *       "retrieval": {
             *         "min_score": 0.18,
             *         "mode": "hybrid",
             *         "neighbours": 0,
             *         "rerank_model": "",
             *         "rerank_top_k": 20,
             *         "top_k": 5,
             *         "weight": 0.5
             *       }
             *     }
             */
            settings?: components["schemas"]["BaseSettingsBody"];
            /** Store */
            store?: ("builtin" | "pgvector" | "qdrant" | "chroma" | "milvus" | "seekdb") | null;
        };
        KnowledgeBaseResponse: {
            bytes: number;
            chunks: number;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            description: string;
            embedding: components["schemas"]["EmbeddingResponse"];
            emoji: string;
            /** @description `builtin`, or the id of the plugin whose engine stores and searches it. */
            engine: string;
            /** @description Configuration of the engine; secrets are masked. */
            engine_config: {
                [key: string]: unknown;
            };
            engine_settings: {
                [key: string]: unknown;
            };
            files: number;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            kb_id: string;
            name: string;
            /** @description The vector store that is being filled; null while none is. */
            next_store: string | null;
            /** @description Why it can't be searched, such as an engine that is not running. */
            problem: string | null;
            settings: {
                [key: string]: unknown;
            };
            /** @description `ready`, `reembedding`, or `rebuilding` after its vectors were lost. */
            status: string;
            store: string;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            updated_at: number;
            /** @description Names of the agents that search it. */
            used_by: string[];
        };
        KnowledgeFileResponse: {
            artifact_id: string | null;
            chunks: number;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            error: components["schemas"]["FileErrorResponse"] | null;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            file_id: string;
            job_id: string;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            kb_id: string;
            metadata: {
                [key: string]: unknown;
            };
            mime_type: string;
            name: string;
            pages: number | null;
            parser: string | null;
            /** @description Percent. */
            progress: number;
            /** @description Days after which a web page is fetched again; null: never. */
            refresh_days: number | null;
            size_bytes: number;
            source: string;
            /** @description `fetch`, `parse`, `embed` or `switch`, while it is processed. */
            stage: string | null;
            status: string;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            updated_at: number;
            url: string | null;
        };
        KnownModelResponse: {
            abilities: string[];
            /** @description In tokens; 0 when nobody knows. */
            context_window: number;
            max_output_tokens: number;
            name: string;
            /** @description Null when nobody knows what it costs. */
            prices: components["schemas"]["PricesResponse"] | null;
            /** @enum {string} */
            type: "llm" | "embedding" | "rerank" | "moderation";
        };
        /**
         * LoginContinuation
         * @description `session` is that of the previous response; `code` has the digits that the phone shows, if they are needed.
         * @example {
         *       "code": "",
         *       "session": "v1.…"
         *     }
         */
        LoginContinuation: {
            /**
             * Code
             * @default
             */
            code?: string;
            /** Session */
            session: string;
        };
        LoginResponse: {
            /** @description The digits that were sent are wrong. */
            code_is_wrong: boolean;
            /** @description The text of the QR code, to open it on the phone itself. */
            link: string | null;
            /** @description The modules of the QR code, row by row: `1` is dark. */
            qr: string[] | null;
            /** @description Sealed, for the next step; null if there is none. */
            session: string | null;
            /**
             * @description `code_needed`: the phone shows digits to enter. `refreshed`: there is a new QR code.
             * @enum {string}
             */
            state: "waiting" | "scanned" | "code_needed" | "refreshed" | "expired" | "confirmed";
        };
        /** LogsBody */
        LogsBody: {
            /** Level */
            level?: ("debug" | "info" | "warning" | "error") | null;
        };
        LogsResponse: {
            /** @enum {string} */
            level: "debug" | "info" | "warning" | "error";
        };
        /**
         * LongText
         * @description What becomes of long replies.
         */
        LongText: {
            /**
             * As
             * @default split
             * @enum {string}
             */
            as?: "split" | "file" | "image" | "forward";
            /**
             * Over
             * @default 0
             */
            over?: number;
        };
        /** @description What a resource holds, or a prompt says; or why it can't be had, in words. */
        McpContent: {
            /** @description Texts, files and JSON values, as runs are given them. */
            content: {
                [key: string]: unknown;
            }[];
            is_error: boolean;
            truncated: boolean;
        };
        McpIdentity: {
            name: string;
            version: string;
        };
        McpPromptArgumentResponse: {
            description: string;
            name: string;
            required: boolean;
        };
        McpPromptResponse: {
            arguments: components["schemas"]["McpPromptArgumentResponse"][];
            description: string;
            name: string;
        };
        McpResourceResponse: {
            description: string;
            is_template: boolean;
            mime_type: string;
            name: string;
            /** @description Of a template, with names in braces to be filled in. */
            uri: string;
        };
        /**
         * McpServerBody
         * @description A server over `http` or `sse` has a url and headers; one over `stdio` a command, arguments and environment.
         * @example {
         *       "headers": {
         *         "Authorization": "Bearer ..."
         *       },
         *       "name": "weather",
         *       "url": "https://example.org/mcp"
         *     }
         */
        McpServerBody: {
            /**
             * Arguments
             * @default []
             */
            arguments?: string[];
            /**
             * Command
             * @default
             */
            command?: string;
            /**
             * Confirmation
             * @description For a server over stdio that is new or changed: 'run without a sandbox', sent by a logged-in person; not needed where the setting mcp.allow_unsandboxed is on
             * @default
             */
            confirmation?: string;
            /**
             * Enabled
             * @default true
             */
            enabled?: boolean;
            /**
             * Environment
             * @default {}
             */
            environment?: {
                [key: string]: string;
            };
            /**
             * Headers
             * @default {}
             */
            headers?: {
                [key: string]: string;
            };
            /**
             * Memory Mb
             * @description Memory of its process in the sandbox in MiB; 0 means as the sandbox has
             * @default 0
             */
            memory_mb?: number;
            /**
             * Mounts
             * @description Files and folders of the machine that its sandbox shows read-only, below those of the setting box.local.allowed_mount_roots
             * @default []
             */
            mounts?: string[];
            /**
             * Name
             * @description The namespace of its tools: name.tool
             */
            name: string;
            /**
             * Network
             * @description Gives its sandbox a network
             * @default false
             */
            network?: boolean;
            /**
             * Restart
             * @description Whether a command is started again when it ends: always, until it has failed five times in a row, or not before the server is saved or switched on again
             * @default always
             * @enum {string}
             */
            restart?: "always" | "on_failure" | "never";
            /**
             * Sandboxed
             * @description Runs the command in a sandbox of the Box
             * @default false
             */
            sandboxed?: boolean;
            /**
             * Transport
             * @default http
             * @enum {string}
             */
            transport?: "http" | "sse" | "stdio";
            /**
             * Url
             * @default
             */
            url?: string;
        };
        McpServerResponse: {
            arguments: string[];
            command: string;
            enabled: boolean;
            environment: {
                [key: string]: string;
            };
            /** @description Their values are masked, as those of `environment`. */
            headers: {
                [key: string]: string;
            };
            memory_mb: number;
            mounts: string[];
            /** @description The namespace of its tools. */
            name: string;
            network: boolean;
            /** @enum {string} */
            restart: "always" | "on_failure" | "never";
            sandboxed: boolean;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            server_id: string;
            status: components["schemas"]["McpStatus"];
            /** @enum {string} */
            transport: "http" | "sse" | "stdio";
            /** @description When that was, in milliseconds since 1970; 0: nobody did. */
            unsandboxed_at: number;
            /** @description Of a server over stdio: who confirmed that it may run outside any sandbox, such as `user:<id>`. */
            unsandboxed_by: string;
            url: string;
        };
        McpStatus: {
            last_error: string | null;
            /** @description A sentence for each thing that is not offered. */
            left_out: string[];
            prompts: components["schemas"]["McpPromptResponse"][];
            protocol_version: string | null;
            resources: components["schemas"]["McpResourceResponse"][];
            /** @description As it calls itself. */
            server: components["schemas"]["McpIdentity"];
            since: number | null;
            /** @enum {string} */
            state: "off" | "connecting" | "connected" | "failed";
            tools: components["schemas"]["McpToolResponse"][];
        };
        /** @description As the server describes it. */
        McpToolResponse: {
            description: string;
            name: string;
            parameters_schema: {
                [key: string]: unknown;
            };
            read_only: boolean;
        };
        /**
         * MediaElement
         * @description Bytes that live somewhere: exactly one of url, content_base64 and artifact_id says where.
         */
        MediaElement: {
            /** Artifact Id */
            artifact_id?: string | null;
            /** Content Base64 */
            content_base64?: string | null;
            /** Mime Type */
            mime_type?: string | null;
            /** Name */
            name?: string | null;
            /** Size Bytes */
            size_bytes?: number | null;
            /** Text Bytes */
            text_bytes?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "audio" | "file" | "image" | "video";
            /** Url */
            url?: string | null;
        };
        /** MemoryChange */
        MemoryChange: {
            /** Text */
            text: string;
        };
        /**
         * MemoryPolicyBody
         * @description What the agent may remember about people or chats.
         */
        MemoryPolicyBody: {
            /**
             * Consent
             * @description Nothing is remembered before `/memory on` was written.
             * @default true
             */
            consent?: boolean;
            /**
             * Max Entries
             * @default 200
             */
            max_entries?: number;
            /**
             * Retention Days
             * @description 0: without limit
             * @default 365
             */
            retention_days?: number;
            /**
             * Scope
             * @default off
             * @enum {string}
             */
            scope?: "off" | "person" | "chat";
        };
        MemoryPolicyResponse: {
            consent: boolean;
            /** @description Memories of each person or chat. */
            max_entries: number;
            /** @description 0: without limit. */
            retention_days: number;
            /** @enum {string} */
            scope: "off" | "person" | "chat";
        };
        MemoryResponse: {
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            agent_id: string;
            bot_id: string | null;
            /** @description Where it was said. */
            chat: string;
            conversation_id: string;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            expires_at: number | null;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            memory_id: string;
            /** @enum {string} */
            origin: "agent" | "operator";
            owner_id: string;
            /** @description `chat`, or the type of a person such as `user`. */
            owner_type: string;
            run_id: string;
            text: string;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            updated_at: number;
        };
        /**
         * MentionElement
         * @description Somebody is addressed by name.
         */
        MentionElement: {
            /**
             * Everyone
             * @default false
             */
            everyone?: boolean;
            /** Name */
            name?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "mention";
            /** User Id */
            user_id: string;
        };
        /**
         * MessageLimit
         * @description How many messages are answered, per window of some seconds or per calendar day.
         */
        MessageLimit: {
            /**
             * Count
             * @default 60
             */
            count?: number;
            /**
             * Kind
             * @default fixed
             * @enum {string}
             */
            kind?: "fixed" | "sliding" | "bucket";
            /**
             * Over
             * @default drop
             * @enum {string}
             */
            over?: "drop" | "wait" | "tell";
            /**
             * Per
             * @default sender
             * @enum {string}
             */
            per?: "sender" | "chat" | "bot" | "agent";
            /**
             * Seconds
             * @default 60
             */
            seconds?: number;
            /**
             * Tell
             * @default
             */
            tell?: string;
            /**
             * Window
             * @default seconds
             * @enum {string}
             */
            window?: "seconds" | "day";
        };
        /**
         * MessagePolicy
         * @description Decides about messages of an agent, of a route, or of a pipeline. Fields that are left out change nothing.
         */
        MessagePolicy: {
            /**
             * @default {
             *       "quote": "include",
             *       "sender_names": false
             *     }
             */
            context?: components["schemas"]["ContextRules"];
            /**
             * @default {
             *       "show": "hint",
             *       "hint": ""
             *     }
             */
            failure?: components["schemas"]["FailureText"];
            /**
             * @default {
             *       "input": [],
             *       "output": []
             *     }
             */
            filters?: components["schemas"]["Filters"];
            /**
             * @default {
             *       "seconds": 0,
             *       "longest": 15,
             *       "messages": 10,
             *       "per": "sender"
             *     }
             */
            gather?: components["schemas"]["Gather"];
            /**
             * Limits
             * @default []
             */
            limits?: components["schemas"]["MessageLimit"][];
            /**
             * @default {
             *       "over": 0,
             *       "as": "split"
             *     }
             */
            long_text?: components["schemas"]["LongText"];
            /**
             * @default {
             *       "mention_sender": false,
             *       "delay": [
             *         0,
             *         0
             *       ],
             *       "tool_calls": "hidden"
             *     }
             */
            reply?: components["schemas"]["ReplyStyle"];
            wake?: components["schemas"]["WakeRules"] | null;
        };
        /** @description A way of being connected. What it can't do is named with the reason. */
        Mode: {
            label: {
                [key: string]: string;
            };
            without?: {
                [key: string]: string;
            };
        };
        /**
         * ModelBody
         * @description What is left out is taken from the catalogue, if it knows the model. `name` is the provider's own.
         * @example {
         *       "name": "gpt-5-mini",
         *       "provider_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41"
         *     }
         */
        ModelBody: {
            /** Abilities */
            abilities?: ("vision" | "audio" | "files" | "tools" | "reasoning" | "json")[] | null;
            /** Context Window */
            context_window?: number | null;
            /** Max Output Tokens */
            max_output_tokens?: number | null;
            /** Name */
            name: string;
            /**
             * Parameters
             * @default {}
             */
            parameters?: {
                [key: string]: unknown;
            };
            /** @description Without, and unknown to the catalogue: unknown costs */
            prices?: components["schemas"]["PricesBody"] | null;
            /** Provider Id */
            provider_id: string;
            /**
             * Type
             * @default llm
             * @enum {string}
             */
            type?: "llm" | "embedding" | "rerank" | "moderation";
        };
        /** @description A call of a model: what it was asked and what it answered, without secrets. */
        ModelCallResponse: {
            /** @description `text`, `reasoning`, `tool_calls` and `finish_reason`; or `error` */
            answer: {
                [key: string]: unknown;
            };
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            call_id: string;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            finished_at: number;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            model_id: string;
            /** @description `answered`, or the code of what went wrong. */
            outcome: string;
            /** @description `messages`, `tools` and `parameters`; or what was to be embedded or ranked */
            request: {
                [key: string]: unknown;
            };
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            run_id: string;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            started_at: number;
            /** @description Long texts were cut or media left out; a note says so in their place */
            truncated: boolean;
        };
        /** @description A service, or a family of servers that speak alike. */
        ModelKind: {
            /** @description Empty when everybody has their own. */
            base_url: string;
            currency: string;
            /** @description Where a key is made. */
            key_page: string;
            kind: string;
            label: string;
            models: components["schemas"]["KnownModelResponse"][];
            needs_key: boolean;
        };
        ModelResponse: {
            abilities: string[];
            context_window: number | null;
            max_output_tokens: number | null;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            model_id: string;
            /** @description The provider's own. */
            name: string;
            /** @description Sent with every request, unless the request says otherwise. */
            parameters: {
                [key: string]: unknown;
            };
            /** @description Null when nobody knows what it costs. */
            prices: components["schemas"]["PricesResponse"] | null;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            provider_id: string;
            /** @enum {string} */
            type: "llm" | "embedding" | "rerank" | "moderation";
        };
        ModelTestResponse: {
            code?: string;
            /** @description What it answered, or exactly what is wrong. */
            message: string;
            milliseconds: number;
            ok: boolean;
            usage?: components["schemas"]["ModelUsage"] | null;
        };
        ModelUsage: {
            cached_tokens?: number;
            completion_tokens: number;
            /** @description Millionths of the currency */
            cost_micros?: number;
            prompt_tokens: number;
            reasoning_tokens?: number;
        };
        /**
         * ModerationConfig
         * @description A moderation model, and which of its categories count.
         */
        ModerationConfig: {
            /**
             * Categories
             * @default []
             */
            categories?: string[];
            /** Model Id */
            model_id: string;
            /** On Error */
            on_error?: ("pass" | "block") | null;
            /**
             * Seconds
             * @default 3
             */
            seconds?: number;
            /**
             * Threshold
             * @default 0
             */
            threshold?: number;
        };
        NewApiKey: {
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            expires_at: number | null;
            /** @description Shown this once. */
            key: string;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            key_id: string;
            labels: string[];
            /** @description To the hour */
            last_used_at: number | null;
            name: string;
            revoked_at: number | null;
            runners: string[];
            /** @enum {string} */
            scope: "admin" | "operator" | "viewer" | "chat" | "platform" | "mcp" | "worker";
        };
        /** NewChunkBody */
        NewChunkBody: {
            /**
             * Heading
             * @default
             */
            heading?: string;
            /** Text */
            text: string;
        };
        /** @description A chat that begins anew. */
        NewConversationResponse: {
            /**
             * @description What is said from now on is said here.
             * @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41
             */
            conversation_id: string;
        };
        /**
         * NewKey
         * @example {
         *       "expires_in_days": 90,
         *       "name": "Dashboard",
         *       "scope": "viewer"
         *     }
         */
        NewKey: {
            /** Expires In Days */
            expires_in_days?: number | null;
            /**
             * Labels
             * @default []
             */
            labels?: string[];
            /** Name */
            name: string;
            /**
             * Runners
             * @default []
             */
            runners?: string[];
            /**
             * Scope
             * @default chat
             * @enum {string}
             */
            scope?: "admin" | "operator" | "viewer" | "chat" | "platform" | "mcp" | "worker";
        };
        /** NewSkillBody */
        NewSkillBody: {
            /** Description */
            description: string;
            /**
             * Instructions
             * @default
             */
            instructions?: string;
            /** Name */
            name: string;
        };
        /**
         * NewUser
         * @example {
         *       "email": "ada@example.org",
         *       "name": "Ada",
         *       "password": "correct horse battery",
         *       "role": "operator"
         *     }
         */
        NewUser: {
            /** Email */
            email: string;
            /**
             * Name
             * @default
             */
            name?: string;
            /** Password */
            password: string;
            /**
             * Role
             * @default viewer
             * @enum {string}
             */
            role?: "owner" | "admin" | "operator" | "viewer";
        };
        NewWebhook: {
            agent_id: string;
            bot_id: string;
            enabled: boolean;
            name: string;
            /** @description Where the other program calls */
            path: string;
            /** @enum {string} */
            scheme: "standard" | "github";
            /** @description Shown this once. */
            secret: string;
            /** @description The same below `http.public_url`; null where that is not set */
            url: string | null;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            webhook_id: string;
        };
        /** @description Who is behind the action; empty texts where something is not known. */
        OccasionResponse: {
            actor_id: string;
            actor_name: string;
            /** @description What a request said, such as the one of somebody who wants to be a friend. */
            comment: string;
            group_id: string;
            group_name: string;
        };
        /** OutputModeration */
        OutputModeration: {
            config: components["schemas"]["ModerationConfig"];
            /**
             * On
             * @default block
             * @enum {string}
             */
            on?: "block" | "replace";
            /**
             * Text
             * @default
             */
            text?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            use: "moderation";
        };
        /** OutputPlugin */
        OutputPlugin: {
            config: components["schemas"]["PluginFilterConfig"];
            /**
             * On
             * @default block
             * @enum {string}
             */
            on?: "block" | "replace";
            /**
             * Text
             * @default
             */
            text?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            use: "plugin";
        };
        /** OutputRegex */
        OutputRegex: {
            config: components["schemas"]["RegexConfig"];
            /**
             * On
             * @default mask
             * @enum {string}
             */
            on?: "block" | "mask" | "replace";
            /**
             * Text
             * @default
             */
            text?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            use: "regex";
        };
        /** OutputWords */
        OutputWords: {
            config: components["schemas"]["WordsConfig"];
            /**
             * On
             * @default mask
             * @enum {string}
             */
            on?: "block" | "mask" | "replace";
            /**
             * Text
             * @default
             */
            text?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            use: "words";
        };
        /** OwnAccount */
        OwnAccount: {
            /**
             * Current Password
             * @default
             */
            current_password?: string;
            /** Name */
            name?: string | null;
            /** Password */
            password?: string | null;
        };
        /**
         * PageCallBody
         * @description What the page called: `parlour.call(action, data)`.
         * @example {
         *       "action": "list",
         *       "data": {
         *         "page": 1
         *       }
         *     }
         */
        PageCallBody: {
            /** Action */
            action: string;
            /** Data */
            data?: unknown;
        };
        /** @description The answer of the plugin. */
        PageCallResponse: {
            data: unknown;
        };
        PageResponse_AdapterManifest_: {
            items: components["schemas"]["AdapterManifest"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_AgentResponse_: {
            items: components["schemas"]["AgentResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_ApiKey_: {
            items: components["schemas"]["ApiKey"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_ApprovalResponse_: {
            items: components["schemas"]["ApprovalResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_AuditEntry_: {
            items: components["schemas"]["AuditEntry"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_BotResponse_: {
            items: components["schemas"]["BotResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_BoxAuditResponse_: {
            items: components["schemas"]["BoxAuditResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_BoxErrorResponse_: {
            items: components["schemas"]["BoxErrorResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_BoxSessionResponse_: {
            items: components["schemas"]["BoxSessionResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_BudgetResponse_: {
            items: components["schemas"]["BudgetResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_BundledPluginResponse_: {
            items: components["schemas"]["BundledPluginResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_ChunkResponse_: {
            items: components["schemas"]["ChunkResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_ConnectionResponse_: {
            items: components["schemas"]["ConnectionResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_ConversationResponse_: {
            items: components["schemas"]["ConversationResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_DefaultAgentResponse_: {
            items: components["schemas"]["DefaultAgentResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_DeliveryResponse_: {
            items: components["schemas"]["DeliveryResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_EventResponse_: {
            items: components["schemas"]["EventResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_FeedbackResponse_: {
            items: components["schemas"]["FeedbackResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_HostResponse_: {
            items: components["schemas"]["HostResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_JobResponse_: {
            items: components["schemas"]["JobResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_KnowledgeBaseResponse_: {
            items: components["schemas"]["KnowledgeBaseResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_KnowledgeFileResponse_: {
            items: components["schemas"]["KnowledgeFileResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_McpServerResponse_: {
            items: components["schemas"]["McpServerResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_MemoryResponse_: {
            items: components["schemas"]["MemoryResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_ModelKind_: {
            items: components["schemas"]["ModelKind"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_ModelResponse_: {
            items: components["schemas"]["ModelResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_PartResponse_: {
            items: components["schemas"]["PartResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_PipelineResponse_: {
            items: components["schemas"]["PipelineResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_PluginPageResponse_: {
            items: components["schemas"]["PluginPageResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_PluginProgramResponse_: {
            items: components["schemas"]["PluginProgramResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_PluginResponse_: {
            items: components["schemas"]["PluginResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_ProviderResponse_: {
            items: components["schemas"]["ProviderResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_QueuedRunResponse_: {
            items: components["schemas"]["QueuedRunResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_RouteResponse_: {
            items: components["schemas"]["RouteResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_RunEventResponse_: {
            items: components["schemas"]["RunEventResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_RunListItem_: {
            items: components["schemas"]["RunListItem"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_Runner_: {
            items: components["schemas"]["Runner"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_RuntimeResponse_: {
            items: components["schemas"]["RuntimeResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_ScheduleResponse_: {
            items: components["schemas"]["ScheduleResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_SessionResponse_: {
            items: components["schemas"]["SessionResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_SkillFileEntry_: {
            items: components["schemas"]["SkillFileEntry"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_SkillResponse_: {
            items: components["schemas"]["SkillResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_str_: {
            items: string[];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_ToolDetail_: {
            items: components["schemas"]["ToolDetail"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_TranscriptItemResponse_: {
            items: components["schemas"]["TranscriptItemResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_UsageResponse_: {
            items: components["schemas"]["UsageResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_UserResponse_: {
            items: components["schemas"]["UserResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_WebhookResponse_: {
            items: components["schemas"]["WebhookResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        PageResponse_WordListResponse_: {
            items: components["schemas"]["WordListResponse"][];
            /** @description For the next page, as `cursor`; null on the last one */
            next_cursor: string | null;
        };
        ParserListResponse: {
            items: components["schemas"]["ParserResponse"][];
            next_cursor: null;
        };
        ParserResponse: {
            extensions: string[];
            /**
             * @description A text by language
             * @example {
             *       "en": "Echo",
             *       "zh_Hans": "回声"
             *     }
             */
            label: {
                [key: string]: string;
            };
            mime_types: string[];
            parser: string;
        };
        /** PartMove */
        PartMove: {
            /** Host Id */
            host_id: string;
        };
        /** @description A part of the work: a bot, a share of the conversations without a bot, or a duty. */
        PartResponse: {
            /** @description How often the owner has changed. */
            epoch: number;
            /** @description Its owner; null while it is free. */
            host_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            moved_at: number;
            part: string;
            /** @description The Host that asks for it. */
            wanted_by: string | null;
        };
        /** @description The most a runner may ever be granted. */
        Permissions: {
            /** @default [] */
            agent_runs?: ("read" | "create" | "control" | "admin")[];
            /** @default [] */
            artifacts?: ("metadata" | "read" | "create")[];
            /** @default [] */
            events?: ("get" | "page")[];
            /** @default [] */
            files?: ("config" | "knowledge")[];
            /** @default [] */
            history?: ("page" | "search")[];
            /** @default [] */
            knowledge_bases?: ("list" | "retrieve")[];
            /** @default [] */
            models?: ("invoke" | "stream" | "rerank" | "embed")[];
            /** @default [] */
            platform_actions?: string[];
            /** @default [] */
            runtimes?: ("read" | "admin")[];
            /** @default [] */
            skills?: ("list" | "activate" | "author")[];
            /** @default [] */
            storage?: ("plugin" | "workspace" | "binding")[];
            /** @default [] */
            tools?: ("detail" | "call")[];
        };
        PermissionTextResponse: {
            key: string;
            /** @description What it may do, such as "call tools". */
            text: string;
            /** @description What the text in another language is made with. */
            values: {
                [key: string]: string;
            };
        };
        PermissionTextsResponse: {
            asked: components["schemas"]["PermissionTextResponse"][];
            granted: components["schemas"]["PermissionTextResponse"][];
            ungranted: components["schemas"]["PermissionTextResponse"][];
        };
        /**
         * PersonBody
         * @description The person who is said to write. Only rules see the id and the role.
         */
        PersonBody: {
            /**
             * Id
             * @default preview
             */
            id?: string;
            /**
             * Name
             * @default
             */
            name?: string;
            /**
             * Role
             * @description Role in the group, such as admin
             * @default
             */
            role?: string;
        };
        /**
         * PipelineBody
         * @description Only name and agent_id are required.
         * @example {
         *       "agent_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41",
         *       "message_policy": {
         *         "wake": {
         *           "groups": {
         *             "prefixes": [
         *               "ai"
         *             ]
         *           }
         *         }
         *       },
         *       "name": "Support"
         *     }
         */
        PipelineBody: {
            /** Agent Id */
            agent_id: string;
            /** Conversation Ttl */
            conversation_ttl?: number | null;
            /**
             * Description
             * @default
             */
            description?: string;
            /**
             * Enabled
             * @default true
             */
            enabled?: boolean;
            /**
             * Mcp Servers
             * @default *
             */
            mcp_servers?: "*" | string[];
            message_policy?: components["schemas"]["MessagePolicy"] | null;
            /** Name */
            name: string;
            /**
             * Plugins
             * @default *
             */
            plugins?: "*" | string[];
            /**
             * Skills
             * @default *
             */
            skills?: "*" | string[];
        };
        /**
         * PipelineChange
         * @description What was read may be sent back with its changes.
         * @example {
         *       "agent_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41",
         *       "message_policy": {
         *         "wake": {
         *           "groups": {
         *             "prefixes": [
         *               "ai"
         *             ]
         *           }
         *         }
         *       },
         *       "name": "Support"
         *     }
         */
        PipelineChange: {
            /** Agent Id */
            agent_id: string;
            /** Conversation Ttl */
            conversation_ttl?: number | null;
            /**
             * Description
             * @default
             */
            description?: string;
            /**
             * Enabled
             * @default true
             */
            enabled?: boolean;
            /**
             * Mcp Servers
             * @default *
             */
            mcp_servers?: "*" | string[];
            message_policy?: components["schemas"]["MessagePolicy"] | null;
            /** Name */
            name: string;
            /**
             * Pipeline Id
             * @description If it is given, that of the address
             */
            pipeline_id?: string | null;
            /**
             * Plugins
             * @default *
             */
            plugins?: "*" | string[];
            /**
             * Problem
             * @description It may be sent back, and is ignored
             */
            problem?: string | null;
            /**
             * Skills
             * @default *
             */
            skills?: "*" | string[];
        };
        PipelineDryRun: {
            /** @description The agent that would answer; null if the message is stopped. */
            answered_by: string | null;
            /** @description The text that the agent would read. */
            input: string | null;
            steps: components["schemas"]["PipelineStep"][];
        };
        /**
         * PipelineDryRunBody
         * @example {
         *       "event": {
         *         "input": {
         *           "text": "hello"
         *         }
         *       },
         *       "reply": "Hi!"
         *     }
         */
        PipelineDryRunBody: {
            /**
             * Event
             * @default {}
             */
            event?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            pipeline?: components["schemas"]["PipelineBody"] | null;
            /**
             * Reply
             * @default
             */
            reply?: string;
        };
        PipelineResponse: {
            agent_id: string;
            /** @description Null: that of the agent. */
            conversation_ttl: number | null;
            description: string;
            enabled: boolean;
            mcp_servers: "*" | string[];
            /** @description The fields that were given; they hold in place of the agent's own. */
            message_policy: {
                [key: string]: unknown;
            };
            name: string;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            pipeline_id: string;
            /** @description Plugins whose tools may be used; at most what the agent may use. */
            plugins: "*" | string[];
            /** @description Why the pipeline answers nothing. */
            problem: string | null;
            skills: "*" | string[];
        };
        PipelineStep: {
            after: string | null;
            before: string | null;
            /** @enum {string} */
            checkpoint: "wake" | "admit" | "gather" | "answer" | "finish" | "pace";
            code: string;
            reason: string;
            /** @description Field of the message policy that decides. */
            rule: string;
            /** @enum {string} */
            verdict: "pass" | "stop" | "change" | "wait";
        };
        /** @description What the platform takes; delivery keeps to it. */
        PlatformLimits: {
            /** @default 40 */
            button_label?: number;
            /** @default 10 */
            buttons?: number;
            /** @default 0 */
            calls_per_second?: number;
            /** @default 0 */
            chat_calls_per_minute?: number;
            /** @default 0 */
            edits_per_second?: number;
            /** @default 20971520 */
            file_bytes?: number;
            /** @default 0 */
            group_calls_per_minute?: number;
            /** @default 20 */
            sends_per_second?: number;
            /** @default 4000 */
            text?: number;
            /**
             * @default characters
             * @enum {string}
             */
            text_unit?: "characters" | "utf16" | "bytes";
        };
        PluginComponent: {
            kind: string;
            name: string;
        };
        /**
         * PluginConfigBody
         * @description The values of the form. A secret that is sent back masked stays as it is.
         * @example {
         *       "config": {
         *         "city": "Berlin"
         *       }
         *     }
         */
        PluginConfigBody: {
            /** Config */
            config: {
                [key: string]: unknown;
            };
        };
        /** @description The plugin's own form, and its values with their defaults. */
        PluginConfigResponse: {
            config: {
                [key: string]: unknown;
            };
            config_schema: components["schemas"]["FormItem"][];
        };
        /**
         * PluginFilterConfig
         * @description A plugin that was granted `text.filtering`.
         */
        PluginFilterConfig: {
            /** On Error */
            on_error?: ("pass" | "block") | null;
            /** Plugin Id */
            plugin_id: string;
            /**
             * Seconds
             * @default 3
             */
            seconds?: number;
        };
        /** @description A page of a plugin. */
        PluginPageResponse: {
            description: {
                [key: string]: string;
            } | null;
            label: {
                [key: string]: string;
            } | null;
            name: string;
            /**
             * @description The lowest role that may open it.
             * @enum {string}
             */
            role: "viewer" | "operator" | "admin" | "owner";
        };
        PluginPermissionsResponse: {
            asked: {
                [key: string]: string[];
            };
            granted: {
                [key: string]: string[];
            };
            /** @description Asked for and not granted. */
            ungranted: {
                [key: string]: string[];
            };
            words: components["schemas"]["PermissionTextsResponse"];
        };
        PluginProgramResponse: {
            commands: components["schemas"]["ProgramCommandResponse"][];
            /** @description The permission as `granted` of `PUT /plugins/{author}/{name}` takes it. */
            grant: string;
            granted: boolean;
            /** @description The command that installs it, to be typed on the machine of the Host. */
            install: string | null;
            /** @description True if all its commands are installed. Any program in the folders of `programs.folders` counts as installed. */
            installed: boolean;
            label: string;
            /** @description Name of the permission. */
            name: string;
            note: {
                [key: string]: string;
            } | null;
            running: number;
            /** @description What it may do. */
            words: components["schemas"]["PermissionTextResponse"][];
        };
        PluginResponse: {
            components: components["schemas"]["PluginComponent"][];
            /** @description Whether it has a form of its own, at `/plugins/{author}/{name}/config`. */
            configurable: boolean;
            description: {
                [key: string]: string;
            } | null;
            enabled: boolean;
            /** @description `author/name`. */
            id: string;
            installed_at: number | null;
            label: {
                [key: string]: string;
            } | null;
            permissions: components["schemas"]["PluginPermissionsResponse"];
            /** @description Why it does not run, or what else is to be known about it. */
            reason: string | null;
            /** @description How it is confined; null when that is not known. */
            sandbox: string | null;
            /** @description What to type where the plugin runs to have it; null when that is not known. */
            sandbox_command: string | null;
            /** @description Whether a sandbox is wanted and can't be had. */
            sandbox_missing: boolean;
            sandbox_reason: string | null;
            sandbox_remedy: string | null;
            sha256: string;
            /** @description Where it came from. */
            source: string;
            /**
             * @description `building`: its environment; `waiting`: for its next start; `failed`: until somebody does something.
             * @enum {string}
             */
            status: "building" | "starting" | "ready" | "waiting" | "failed" | "stopped" | "disabled";
            version: string;
            warnings: string[];
        };
        PolicyCheck: {
            /** @description The policy with all fields. */
            message_policy: {
                [key: string]: unknown;
            };
            sentences: components["schemas"]["PolicySentenceResponse"][];
            /** @description Whether replies can be shown while they are written. */
            streams: boolean;
        };
        /**
         * PolicyCheckBody
         * @example {
         *       "message_policy": {
         *         "limits": [
         *           {
         *             "count": 20,
         *             "per": "sender"
         *           }
         *         ]
         *       }
         *     }
         */
        PolicyCheckBody: {
            message_policy: components["schemas"]["MessagePolicy"];
        };
        PolicySentenceResponse: {
            code: string;
            text: string;
            values: {
                [key: string]: unknown;
            };
        };
        /**
         * PreviewBody
         * @description A message as if it were written on the platform. Repeated with its event_id, it is the same message.
         * @example {
         *       "chat_id": "42",
         *       "chat_type": "group",
         *       "mentions_bot": true,
         *       "person": {
         *         "id": "7",
         *         "name": "Ann",
         *         "role": "admin"
         *       },
         *       "text": "Hello!"
         *     }
         */
        PreviewBody: {
            /**
             * Chat Id
             * @default preview
             */
            chat_id?: string;
            /**
             * Chat Type
             * @default private
             * @enum {string}
             */
            chat_type?: "private" | "group";
            /** Event Id */
            event_id?: string | null;
            /**
             * Mentions Bot
             * @description In a group: whether the message mentions the bot
             * @default false
             */
            mentions_bot?: boolean;
            /**
             * @default {
             *       "id": "preview",
             *       "name": "",
             *       "role": ""
             *     }
             */
            person?: components["schemas"]["PersonBody"];
            /** Text */
            text: string;
        };
        PreviewConversation: {
            /** @description The conversation that keeps the history of this preview; null before the first message. */
            conversation_id: string | null;
        };
        /**
         * PricesBody
         * @description Of a million tokens each, in your currency.
         */
        PricesBody: {
            /** Cached Input */
            cached_input?: number | null;
            /**
             * Input
             * @default 0
             */
            input?: number;
            /**
             * Output
             * @default 0
             */
            output?: number;
        };
        /** @description Of a million tokens each. */
        PricesResponse: {
            cached_input: number | null;
            input: number;
            output: number;
        };
        /**
         * PrivateWake
         * @description Which private messages are answered.
         */
        PrivateWake: {
            /**
             * Always
             * @default true
             */
            always?: boolean;
            /**
             * Prefixes
             * @default []
             */
            prefixes?: string[];
            /**
             * Regexes
             * @default []
             */
            regexes?: string[];
        };
        ProgramCommandResponse: {
            name: string;
            /** @description Where it is installed on the machine of the Host; null if it is not. */
            path: string | null;
        };
        /**
         * PromptBody
         * @description Which of a server's prompts is wanted, and what goes into it.
         */
        PromptBody: {
            /**
             * Arguments
             * @default {}
             */
            arguments?: {
                [key: string]: string;
            };
            /** Name */
            name: string;
        };
        /**
         * ProviderBody
         * @description `api_keys` are never shown again; left out, or each as `********`, they stay as they are.
         * @example {
         *       "kind": "demo",
         *       "name": "Demo"
         *     }
         */
        ProviderBody: {
            /** Api Keys */
            api_keys?: string[] | null;
            /**
             * Base Url
             * @default
             */
            base_url?: string;
            /** Kind */
            kind: string;
            /** Name */
            name: string;
        };
        /** @description Whether a harness on that machine can be used. */
        ProviderLogin: {
            /** @default null */
            detail?: string | null;
            logged_in: boolean;
            provider: string;
        };
        ProviderResponse: {
            /** @description A mask for each key that there is. */
            api_keys: string[];
            base_url: string;
            kind: string;
            name: string;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            provider_id: string;
        };
        QueuedRunResponse: {
            agent_id: string | null;
            /** @description Active workers that could execute it. */
            candidates: number;
            conversation_id: string;
            /** @description Labels that a worker needs to execute it. */
            labels: string[];
            lease_until: number | null;
            run_id: string;
            runner_id: string;
            /** @description Worker that holds it. */
            runtime_id: string | null;
            /** @enum {string} */
            status: "queued" | "claimed" | "running";
        };
        /**
         * QuoteElement
         * @description The message that this one answers. Quotes nest at most 8 deep.
         */
        QuoteElement: {
            /**
             * Contents
             * @default []
             */
            contents?: (components["schemas"]["TextElement"] | components["schemas"]["MediaElement"] | components["schemas"]["JsonElement"] | components["schemas"]["QuoteElement"] | components["schemas"]["MentionElement"])[];
            /** Message Id */
            message_id?: string | null;
            /** Name */
            name?: string | null;
            /** Sender */
            sender?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "quote";
        };
        ReadinessResponse: {
            /** @enum {string} */
            status: "ready" | "waiting";
            /** @description What is still to come, in words. */
            waiting_for?: string[];
        };
        /**
         * RegexConfig
         * @description Regular expressions, which share a short time budget per message.
         */
        RegexConfig: {
            /** Patterns */
            patterns: string[];
        };
        /** @description Null where there is no limit. */
        Remaining: {
            cost_micros: number | null;
            tokens: number | null;
        };
        ReplayResponse: {
            /** @description False when the run is longer than what is told. */
            complete: boolean;
            /** @description Frames of the chat socket, each with `at`, its time. */
            frames: {
                [key: string]: unknown;
            }[];
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            run_id: string;
        };
        /**
         * ReplyStyle
         * @description How replies look in the chat.
         */
        ReplyStyle: {
            /**
             * Delay
             * @default [
             *       0,
             *       0
             *     ]
             */
            delay?: number[];
            /**
             * Mention Sender
             * @default false
             */
            mention_sender?: boolean;
            /** Quote */
            quote?: ("first" | "never") | null;
            /** Thinking */
            thinking?: ("hidden" | "shown") | null;
            /**
             * Tool Calls
             * @default hidden
             * @enum {string}
             */
            tool_calls?: "hidden" | "brief" | "full";
        };
        /**
         * RerunBody
         * @description What is to be different this time; what is left out is as it was.
         */
        RerunBody: {
            /** Agent Id */
            agent_id?: string | null;
            /**
             * Allow Effects
             * @default false
             */
            allow_effects?: boolean | string[];
            /** Runner Config */
            runner_config?: {
                [key: string]: unknown;
            } | null;
        };
        RerunListItem: {
            agent_id: string;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            run_id: string;
            /** @enum {string} */
            status: "created" | "queued" | "claimed" | "running" | "waiting_approval" | "completed" | "failed" | "cancelled" | "timeout";
        };
        /**
         * ResourceBody
         * @description Which of a server's resources is to be read; of a template, with its names filled in.
         */
        ResourceBody: {
            /** Uri */
            uri: string;
        };
        /**
         * ResourcePolicyBody
         * @description Each a list of names, or "*" for all; beyond these, what the configuration selects is granted.
         */
        ResourcePolicyBody: {
            /**
             * Cross Conversation History
             * @default false
             */
            cross_conversation_history?: boolean;
            /**
             * Files
             * @default []
             */
            files?: "*" | string[];
            /**
             * Knowledge Bases
             * @default []
             */
            knowledge_bases?: "*" | string[];
            /**
             * Mcp Servers
             * @default []
             */
            mcp_servers?: "*" | string[];
            /**
             * Models
             * @default []
             */
            models?: "*" | string[];
            /**
             * Plugins
             * @default *
             */
            plugins?: "*" | string[];
            /**
             * Rules
             * @default []
             */
            rules?: components["schemas"]["RuleBody"][];
            /**
             * Skills
             * @default *
             */
            skills?: "*" | string[];
            /**
             * Storage
             * @default [
             *       "plugin",
             *       "binding"
             *     ]
             */
            storage?: ("plugin" | "workspace" | "binding")[];
            /**
             * Tools
             * @default []
             */
            tools?: "*" | string[];
        };
        /** @description What the agent may use, beyond what its configuration selects. */
        ResourcePolicyResponse: {
            cross_conversation_history: boolean;
            files: "*" | string[];
            knowledge_bases: "*" | string[];
            mcp_servers: "*" | string[];
            models: "*" | string[];
            plugins: "*" | string[];
            rules: components["schemas"]["ResourceRule"][];
            skills: "*" | string[];
            storage: string[];
            tools: "*" | string[];
        };
        /** @description Adds to or takes from what is granted, for some senders. */
        ResourceRule: {
            allow: {
                [key: string]: "*" | string[];
            };
            deny: {
                [key: string]: "*" | string[];
            };
            when: components["schemas"]["SenderResponse"];
        };
        /**
         * RetentionBody
         * @description How many days things are kept. A clean-up follows at once.
         */
        RetentionBody: {
            /** Artifacts Days */
            artifacts_days?: number | null;
            /** Audit Days */
            audit_days?: number | null;
            /** Directory Days */
            directory_days?: number | null;
            /** Events Days */
            events_days?: number | null;
            /** Heard Days */
            heard_days?: number | null;
            /** Model Calls Days */
            model_calls_days?: number | null;
            /** Run Events Days */
            run_events_days?: number | null;
        };
        /** @description How many days things are kept; 0: for ever. */
        RetentionResponse: {
            artifacts_days: number;
            audit_days: number;
            /** @description People, groups and messages that platforms' events named. */
            directory_days: number;
            /** @description With events go transcripts, outgoing messages and runs. */
            events_days: number;
            /** @description Messages of groups that did not address a bot. */
            heard_days: number;
            /** @description Prompts, parameters and answers of models. */
            model_calls_days: number;
            /** @description What runs did, step by step. */
            run_events_days: number;
        };
        /**
         * RetrievalBody
         * @description How a base is searched.
         */
        RetrievalBody: {
            /**
             * Min Score
             * @default 0.18
             */
            min_score?: number;
            /**
             * Mode
             * @default hybrid
             * @enum {string}
             */
            mode?: "hybrid" | "vector" | "full_text";
            /**
             * Neighbours
             * @default 0
             */
            neighbours?: number;
            /**
             * Rerank Model
             * @default
             */
            rerank_model?: string;
            /**
             * Rerank Top K
             * @default 20
             */
            rerank_top_k?: number;
            /**
             * Top K
             * @default 5
             */
            top_k?: number;
            /**
             * Weight
             * @default 0.5
             */
            weight?: number;
        };
        /**
         * RouteBody
         * @description `route_id` is given back for a route that stays, so that it keeps its webhook's secret.
         * @example {
         *       "event_type": "message.*",
         *       "filters": {
         *         "chat_type": "group",
         *         "mentions_bot": false
         *       },
         *       "handler_type": "drop"
         *     }
         */
        RouteBody: {
            /**
             * Description
             * @default
             */
            description?: string;
            /**
             * Enabled
             * @default true
             */
            enabled?: boolean;
            /**
             * Event Type
             * @default message.received
             */
            event_type?: string;
            /** @default {} */
            filters?: components["schemas"]["FiltersBody"];
            /**
             * Handler Config
             * @default {}
             */
            handler_config?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Handler Type
             * @enum {string}
             */
            handler_type: "agent" | "pipeline" | "webhook" | "plugin" | "drop";
            /**
             * Priority
             * @default 0
             */
            priority?: number;
            /**
             * Route Id
             * @default
             */
            route_id?: string;
        };
        /**
         * RoutePage
         * @description The routes in the form that GET answers with, which PUT accepts as well as the bare list.
         */
        RoutePage: {
            /** Items */
            items: components["schemas"]["RouteBody"][];
            /** Next Cursor */
            next_cursor?: null;
        };
        RouteResponse: {
            description: string;
            enabled: boolean;
            event_type: string;
            filters: {
                [key: string]: unknown;
            };
            /** @description Secrets of a webhook are masked; `secret_set` says whether there is one to sign with. */
            handler_config: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            handler_type: "agent" | "pipeline" | "webhook" | "plugin" | "drop";
            priority: number;
            route_id: string;
        };
        /**
         * RuleBody
         * @description Adds to or takes from what is granted, for some senders.
         */
        RuleBody: {
            /**
             * Allow
             * @default {}
             */
            allow?: {
                [key: string]: "*" | string[];
            };
            /**
             * Deny
             * @default {}
             */
            deny?: {
                [key: string]: "*" | string[];
            };
            /**
             * @default {
             *       "users": [],
             *       "groups": [],
             *       "roles": [],
             *       "chat_type": ""
             *     }
             */
            when?: components["schemas"]["SenderBody"];
        };
        /** @description Of a rerun, `texts` and `original` let it be compared; of another run, `reruns` lists what was made of it. */
        RunDetail: {
            actor_name: string | null;
            agent_id: string | null;
            /** @description Null when the agent is gone */
            agent_name: string | null;
            attempt: number;
            /** @description What it was granted when it began: `apis` and `resources` */
            authorization: {
                [key: string]: unknown;
            };
            binding_id: string | null;
            bot_id: string | null;
            cancel_requested_at: number | null;
            /** @description The worker that executes it, or did */
            claimed_by: string | null;
            conversation_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            deadline_at: number | null;
            /** @description The first hundred; /runs/{run_id}/deliveries has them all. */
            deliveries: components["schemas"]["DeliveryResponse"][];
            denials: components["schemas"]["Denial"][];
            /** @description In words */
            error: string | null;
            event: components["schemas"]["EventResponse"] | null;
            event_id: string;
            event_type: string | null;
            feedback: components["schemas"]["FeedbackResponse"][];
            finished_at: number | null;
            /** @description How the text that it answers begins */
            input_summary: string | null;
            metadata: {
                [key: string]: unknown;
            };
            original?: components["schemas"]["RunSide"] | null;
            /** @description The attempt before */
            parent_run_id: string | null;
            plugin_id: string;
            rerun_of: string | null;
            reruns?: components["schemas"]["RerunListItem"][];
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            run_id: string;
            runner_id: string;
            started_at: number | null;
            /** @enum {string} */
            status: "created" | "queued" | "claimed" | "running" | "waiting_approval" | "completed" | "failed" | "cancelled" | "timeout";
            status_reason: string | null;
            texts?: string[];
            thread_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            updated_at: number;
            usage: components["schemas"]["RunUsageResponse"];
            workspace_id: string;
        };
        RunEventResponse: {
            artifact_refs: {
                [key: string]: unknown;
            }[];
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            data: unknown;
            first_sequence: number | null;
            last_sequence: number | null;
            metadata: {
                [key: string]: unknown;
            };
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            run_id: string;
            sequence: number;
            /** @description Who said so: `runner` or `host`. */
            source: string;
            /** @description Such as `message.completed`, `tool.call.started`, `model.called`, `state.updated`. */
            type: string;
        };
        /** @description How many runs go on at once. */
        RunLimitsResponse: {
            concurrent: number;
            /** @description For all senders of a group on a platform together. 0: no limit. */
            per_conversation_per_minute: number;
            per_person: number;
            /** @description On platforms; a private chat may be beyond it for ten minutes. 0: no limit. */
            per_sender_per_minute: number;
        };
        /** @description A run in a list; what it was granted is told by the run itself. */
        RunListItem: {
            actor_name: string | null;
            agent_id: string | null;
            /** @description Null when the agent is gone */
            agent_name: string | null;
            attempt: number;
            binding_id: string | null;
            bot_id: string | null;
            cancel_requested_at: number | null;
            /** @description The worker that executes it, or did */
            claimed_by: string | null;
            conversation_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            deadline_at: number | null;
            /** @description In words */
            error: string | null;
            event_id: string;
            event_type: string | null;
            finished_at: number | null;
            /** @description How the text that it answers begins */
            input_summary: string | null;
            metadata: {
                [key: string]: unknown;
            };
            /** @description The attempt before */
            parent_run_id: string | null;
            plugin_id: string;
            rerun_of: string | null;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            run_id: string;
            runner_id: string;
            started_at: number | null;
            /** @enum {string} */
            status: "created" | "queued" | "claimed" | "running" | "waiting_approval" | "completed" | "failed" | "cancelled" | "timeout";
            status_reason: string | null;
            thread_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            updated_at: number;
            usage: components["schemas"]["RunUsageResponse"];
            workspace_id: string;
        };
        /** @description What agents are made of. */
        Runner: {
            capabilities: components["schemas"]["Capabilities"];
            /** @description The form of an agent's `runner_config`. */
            config_schema: components["schemas"]["FormItem"][];
            description: {
                [key: string]: string;
            } | null;
            id: string;
            /**
             * @description A text by language
             * @example {
             *       "en": "Echo",
             *       "zh_Hans": "回声"
             *     }
             */
            label: {
                [key: string]: string;
            };
            permissions: components["schemas"]["Permissions"];
            plugin: components["schemas"]["RunnerPlugin"];
        };
        RunnerPlugin: {
            id: string;
            /** @enum {string} */
            status: "building" | "starting" | "ready" | "waiting" | "failed" | "stopped" | "disabled";
            version: string;
        };
        RunRecord: {
            agent_id: string | null;
            attempt: number;
            /** @description What it was granted when it began: `apis` and `resources` */
            authorization: {
                [key: string]: unknown;
            };
            binding_id: string | null;
            bot_id: string | null;
            cancel_requested_at: number | null;
            /** @description The worker that executes it, or did */
            claimed_by: string | null;
            conversation_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            deadline_at: number | null;
            /** @description In words */
            error: string | null;
            event_id: string;
            finished_at: number | null;
            metadata: {
                [key: string]: unknown;
            };
            /** @description The attempt before */
            parent_run_id: string | null;
            plugin_id: string;
            rerun_of: string | null;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            run_id: string;
            runner_id: string;
            started_at: number | null;
            /** @enum {string} */
            status: "created" | "queued" | "claimed" | "running" | "waiting_approval" | "completed" | "failed" | "cancelled" | "timeout";
            status_reason: string | null;
            thread_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            updated_at: number;
            usage: components["schemas"]["RunUsageResponse"];
            workspace_id: string;
        };
        /** @description A run begun or ended just now. */
        RunResponse: {
            actor_name: string | null;
            agent_id: string | null;
            /** @description Null when the agent is gone */
            agent_name: string | null;
            attempt: number;
            /** @description What it was granted when it began: `apis` and `resources` */
            authorization: {
                [key: string]: unknown;
            };
            binding_id: string | null;
            bot_id: string | null;
            cancel_requested_at: number | null;
            /** @description The worker that executes it, or did */
            claimed_by: string | null;
            conversation_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            deadline_at: number | null;
            /** @description In words */
            error: string | null;
            event_id: string;
            event_type: string | null;
            finished_at: number | null;
            /** @description How the text that it answers begins */
            input_summary: string | null;
            metadata: {
                [key: string]: unknown;
            };
            /** @description The attempt before */
            parent_run_id: string | null;
            plugin_id: string;
            rerun_of: string | null;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            run_id: string;
            runner_id: string;
            started_at: number | null;
            /** @enum {string} */
            status: "created" | "queued" | "claimed" | "running" | "waiting_approval" | "completed" | "failed" | "cancelled" | "timeout";
            status_reason: string | null;
            thread_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            updated_at: number;
            usage: components["schemas"]["RunUsageResponse"];
            workspace_id: string;
        };
        /** RunsBody */
        RunsBody: {
            /** Concurrent */
            concurrent?: number | null;
            /** Per Conversation Per Minute */
            per_conversation_per_minute?: number | null;
            /** Per Person */
            per_person?: number | null;
            /** Per Sender Per Minute */
            per_sender_per_minute?: number | null;
        };
        /** @description One side of a comparison. */
        RunSide: {
            agent_id: string | null;
            error: string | null;
            finished_at: number | null;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            run_id: string;
            runner_id: string;
            started_at: number | null;
            /** @enum {string} */
            status: "created" | "queued" | "claimed" | "running" | "waiting_approval" | "completed" | "failed" | "cancelled" | "timeout";
            texts: string[];
            usage: components["schemas"]["RunUsageResponse"];
        };
        RuntimeResponse: {
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            expires_at: number;
            /** @description API key of a worker process. */
            key_id: string | null;
            labels: string[];
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            last_seen_at: number;
            /** @description Plugin whose worker it is; null for a worker process. */
            plugin_id: string | null;
            providers: components["schemas"]["ProviderLogin"][];
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            registered_at: number;
            /** @description None named means any. */
            runners: string[];
            runtime_id: string;
            slots: number;
            /** @enum {string} */
            status: "active" | "gone";
            /** @description Runs that it holds now. */
            used_slots: number;
            versions: {
                [key: string]: string;
            };
            workspaces: string[];
        };
        /** @description What the Host counted; a runner may tell of more. What did not happen is left out. */
        RunUsageResponse: {
            cached_tokens?: number;
            calling?: string[];
            completion_tokens?: number;
            /** @description Millionths of the currency */
            cost_micros?: number;
            model_calls?: number;
            prompt_tokens?: number;
            reasoning_tokens?: number;
            tool_calls?: number;
            unpriced_calls?: number;
        } & {
            [key: string]: unknown;
        };
        /**
         * ScheduleBody
         * @example {
         *       "agent_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41",
         *       "cron": "0 9 * * 1-5",
         *       "name": "Morning",
         *       "timezone": "Europe/Berlin"
         *     }
         */
        ScheduleBody: {
            /**
             * Agent Id
             * @default
             */
            agent_id?: string;
            /**
             * Bot Id
             * @default
             */
            bot_id?: string;
            /**
             * Cron
             * @default
             * @example 0 9 * * 1-5
             */
            cron?: string;
            /**
             * Data
             * @default {}
             */
            data?: {
                [key: string]: unknown;
            };
            /**
             * Enabled
             * @default true
             */
            enabled?: boolean;
            /**
             * Interval Seconds
             * @default 0
             */
            interval_seconds?: number;
            /**
             * Missed
             * @default skip
             * @enum {string}
             */
            missed?: "skip" | "once";
            /** Name */
            name: string;
            /**
             * Text
             * @default
             */
            text?: string;
            /**
             * Timezone
             * @default UTC
             * @example Europe/Berlin
             */
            timezone?: string;
        };
        ScheduleResponse: {
            agent_id: string;
            bot_id: string;
            cron: string;
            data: {
                [key: string]: unknown;
            };
            due_at: number | null;
            enabled: boolean;
            fired_at: number | null;
            interval_seconds: number;
            /**
             * @description What becomes of a time that passed while the Host was away.
             * @enum {string}
             */
            missed: "skip" | "once";
            name: string;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            schedule_id: string;
            text: string;
            timezone: string;
        };
        /** SearchBody */
        SearchBody: {
            /**
             * Explain
             * @default false
             */
            explain?: boolean;
            /** Filters */
            filters?: {
                [key: string]: unknown;
            } | null;
            /** Mode */
            mode?: ("hybrid" | "vector" | "full_text") | null;
            /** Query */
            query: string;
            /** Settings */
            settings?: components["schemas"]["RetrievalBody"] | {
                [key: string]: unknown;
            } | null;
            /** Top K */
            top_k?: number | null;
        };
        SearchResponse: {
            best_rejected?: number;
            items: components["schemas"]["FoundPassageResponse"][];
            /** @description `vectors_missing`, `rerank_failed`, or `nothing_fits` if the best passage has too low a score. */
            notes: string[];
            /** @description Milliseconds of each stage. */
            timings?: {
                [key: string]: number;
            };
        };
        /**
         * SenderBody
         * @description Whom a rule is for: every part that is named must hold.
         */
        SenderBody: {
            /**
             * Chat Type
             * @default
             * @enum {string}
             */
            chat_type?: "" | "private" | "group";
            /**
             * Groups
             * @default []
             */
            groups?: string[];
            /**
             * Roles
             * @default []
             */
            roles?: string[];
            /**
             * Users
             * @default []
             */
            users?: string[];
        };
        SenderResponse: {
            chat_type: string;
            groups: string[];
            roles: string[];
            users: string[];
        };
        SentenceResponse: {
            code: string;
            values: {
                [key: string]: unknown;
            };
        };
        /** @description A server that a bot connects to. `parlour doctor` checks whether it can be reached. */
        ServerDeclaration: {
            defaults?: {
                [key: string]: string;
            };
            /** @default  */
            depends_on?: string;
            field: string;
            /** @default  */
            port_field?: string;
            ports?: {
                [key: string]: number;
            };
            /** @default  */
            security_field?: string;
        };
        /** @description A session of yours with the agent, in its present conversation. */
        SessionResponse: {
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            conversation_id: string;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            /** @description How much was said. */
            items: number;
            session: string;
            /** @description How the first message of its begins; null while nothing was said. */
            title: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            updated_at: number;
        };
        SessionUserResponse: {
            /** @description Goes with every change as the header X-CSRF-Token. */
            csrf_token: string;
            email: string;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            expires_at: number;
            /** @constant */
            kind: "user";
            name: string;
            /** @description May read prompts and answers of models, as the setting `model_calls.visible_to` says. */
            reads_model_calls: boolean;
            /** @enum {string} */
            role: "owner" | "admin" | "operator" | "viewer";
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            user_id: string;
        };
        /**
         * SettingsBody
         * @example {
         *       "retention": {
         *         "events_days": 180
         *       },
         *       "workspace": {
         *         "time_zone": "Asia/Tokyo"
         *       }
         *     }
         */
        SettingsBody: {
            /**
             * Changed
             * @description Only told; what is sent is not looked at
             * @default []
             */
            changed?: string[];
            /** @default {} */
            logs?: components["schemas"]["LogsBody"];
            /** @default {} */
            retention?: components["schemas"]["RetentionBody"];
            /** @default {} */
            runs?: components["schemas"]["RunsBody"];
            /** @default {} */
            workspace?: components["schemas"]["WorkspaceBody"];
        };
        /** @description What may be changed while the Host runs. */
        SettingsResponse: {
            /** @description What was changed here, such as `retention.events_days`; the rest is as the file and the environment say. */
            changed: string[];
            logs: components["schemas"]["LogsResponse"];
            retention: components["schemas"]["RetentionResponse"];
            runs: components["schemas"]["RunLimitsResponse"];
            workspace: components["schemas"]["WorkspaceResponse"];
        };
        SetupState: {
            /** @description The first owner is still to be made. */
            needed: boolean;
            /** @description That takes the token which the Host printed when it started. */
            token_required: boolean;
        };
        SizeLimitsResponse: {
            body_bytes: number;
            chat_frame_bytes: number;
            upload_bytes: number;
        };
        SkillCandidateResponse: {
            /** @description True if a skill of this name is installed. */
            conflicts: boolean;
            description: string | null;
            files: number;
            /** @description Name that the skill would have. */
            name: string;
            /** @description Why it can't be installed. */
            problem: string | null;
            sha256: string | null;
            size_bytes: number;
            /** @description Folder in the source; empty for its top. */
            source_path: string;
        };
        /**
         * SkillChangeBody
         * @description What can be changed of a skill. Its name can't: copy the skill instead.
         */
        SkillChangeBody: {
            /** Description */
            description: string;
            /**
             * Enabled
             * @default true
             */
            enabled?: boolean;
            /**
             * Instructions
             * @default
             */
            instructions?: string;
        };
        SkillDetailResponse: {
            description: string;
            enabled: boolean;
            entries: components["schemas"]["SkillFileEntry"][];
            files: number;
            installed_by: string | null;
            instructions: string;
            metadata: {
                [key: string]: unknown;
            };
            name: string;
            sha256: string;
            size_bytes: number;
            source: components["schemas"]["SkillSourceResponse"];
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            updated_at: number;
            version: string | null;
        };
        /** SkillFileBody */
        SkillFileBody: {
            /** Text */
            text: string;
        };
        SkillFileEntry: {
            executable: boolean;
            path: string;
            sha256: string;
            size_bytes: number;
        };
        SkillFileResponse: {
            executable: boolean;
            path: string;
            sha256: string;
            size_bytes: number;
            /** @description The content; none if it is not text, or larger than 1 MiB. */
            text: string | null;
        };
        SkillPreviewResponse: {
            candidates: components["schemas"]["SkillCandidateResponse"][];
            source: components["schemas"]["SkillSourceResponse"];
        };
        SkillResponse: {
            description: string;
            enabled: boolean;
            files: number;
            installed_by: string | null;
            name: string;
            sha256: string;
            size_bytes: number;
            source: components["schemas"]["SkillSourceResponse"];
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            updated_at: number;
            version: string | null;
        };
        SkillSourceResponse: {
            address: string | null;
            /** @enum {string} */
            kind: "page" | "agent" | "folder" | "zip" | "git";
            subfolder: string | null;
        };
        Spent: {
            /** @description Millionths of the currency */
            cost_micros: number;
            tokens: number;
        };
        /** StatePolicyBody */
        StatePolicyBody: {
            /**
             * Enabled
             * @default true
             */
            enabled?: boolean;
            /**
             * Scopes
             * @default [
             *       "conversation",
             *       "actor",
             *       "subject",
             *       "binding"
             *     ]
             */
            scopes?: ("conversation" | "actor" | "subject" | "runner" | "binding")[];
        };
        StatePolicyResponse: {
            enabled: boolean;
            scopes: string[];
        };
        Stats: {
            items: components["schemas"]["HourlyFigures"][];
            next_cursor: null;
            totals: components["schemas"]["Figures"];
        };
        StoreListResponse: {
            items: components["schemas"]["StoreResponse"][];
            next_cursor: null;
        };
        StoreResponse: {
            /** @description True for the store of new bases. */
            is_default: boolean;
            name: string;
            /** @description Why it can't be used; null if it can. */
            problem: string | null;
        };
        /** SubjectBody */
        SubjectBody: {
            /**
             * Data
             * @default {}
             */
            data?: {
                [key: string]: unknown;
            };
            /**
             * Subject Id
             * @default
             */
            subject_id?: string;
            /** Subject Type */
            subject_type: string;
        };
        /**
         * TargetBody
         * @description A chat of a bot.
         */
        TargetBody: {
            /**
             * Account
             * @default
             */
            account?: string;
            /** Bot Id */
            bot_id: string;
            /** Chat Id */
            chat_id: string;
            /**
             * Chat Type
             * @enum {string}
             */
            chat_type: "private" | "group";
            /**
             * Thread Id
             * @default
             */
            thread_id?: string;
        };
        /**
         * TextElement
         * @description Plain text.
         */
        TextElement: {
            /** Text */
            text: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "text";
        };
        /**
         * TimeWindow
         * @description `from` up to `to`; one that ends before it begins goes over midnight and belongs to the day it begins on.
         */
        TimeWindow: {
            /**
             * Days
             * @default []
             */
            days?: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[];
            /** From */
            from: string;
            /**
             * Timezone
             * @default UTC
             */
            timezone?: string;
            /** To */
            to: string;
        };
        /** @description A tool and what it takes. */
        ToolDetail: {
            /** @default null */
            description?: string | null;
            /** @default false */
            needs_approval?: boolean;
            /** @default {} */
            parameters_schema?: {
                [key: string]: unknown;
            };
            /** @default false */
            read_only?: boolean;
            /** @enum {string} */
            source: "native" | "plugin" | "mcp" | "skill";
            tool_name: string;
        };
        /**
         * ToolRuleBody
         * @description Decides about the calls of some tools. The first entry that matches applies; without one a tool is allowed.
         */
        ToolRuleBody: {
            /**
             * Decide
             * @enum {string}
             */
            decide: "allow" | "ask" | "deny";
            /**
             * Seconds
             * @default 1800
             */
            seconds?: number;
            /** Tools */
            tools: string[];
            /**
             * @default {
             *       "users": [],
             *       "roles": [
             *         "owner",
             *         "admin"
             *       ],
             *       "requester": false
             *     }
             */
            who?: components["schemas"]["DecidersBody"];
        };
        ToolRuleResponse: {
            /** @enum {string} */
            decide: "allow" | "ask" | "deny";
            seconds: number;
            tools: string[];
            who: components["schemas"]["DecidersResponse"];
        };
        /** @description The decisions about an event, in order. */
        Trail: {
            event: components["schemas"]["EventResponse"];
            steps: components["schemas"]["TrailStepResponse"][];
        };
        TrailStepResponse: {
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            at: number;
            data: {
                [key: string]: unknown;
            };
            /** @description What the text is made of, for those who say it in another language. */
            sentences: components["schemas"]["SentenceResponse"][];
            step: string;
            /** @description In words. */
            text: string;
        };
        TranscriptItemResponse: {
            artifact_refs: {
                [key: string]: unknown;
            }[];
            content: string;
            /** @description The content's elements, where it is more than text. */
            content_json: unknown[];
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            conversation_id: string;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            event_id: string | null;
            /** @description `notice` is a word of the Host's own. */
            item_type: string;
            metadata: {
                [key: string]: unknown;
            };
            role: string;
            run_id: string | null;
            /** @description Its number in the conversation. */
            seq: number;
            thread_id: string | null;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            transcript_id: string;
        };
        TriedCommandResponse: {
            /** @description True if the agent's call would wait for an approval first. */
            asks: boolean;
            is_error: boolean;
            /** @description False if the policy does not give the agent commands. */
            is_offered: boolean;
            milliseconds: number;
            status: string;
            /** @description What the model would read. */
            text: string;
        };
        /**
         * TryCommandBody
         * @description A command, and the policy under which it runs.
         */
        TryCommandBody: {
            /**
             * @default {
             *       "tools": [],
             *       "read_only": false,
             *       "profile": "default",
             *       "session_template": "{launcher_type}_{launcher_id}",
             *       "ask": [],
             *       "author_skills": false,
             *       "host_path": ""
             *     }
             */
            box_policy?: components["schemas"]["BoxPolicyBody"];
            /** Command */
            command: string;
        };
        /** @description An upload; a message takes it along by its id. */
        UploadedFileResponse: {
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            artifact_id: string;
            artifact_type: string;
            /** @description Where its bytes are. */
            content: string;
            conversation_id: string | null;
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            expires_at: number | null;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            file_id: string;
            metadata: {
                [key: string]: unknown;
            };
            mime_type: string | null;
            name: string | null;
            run_id: string | null;
            runner_id: string | null;
            sha256: string | null;
            /** @description Null while its content was not fetched */
            size_bytes: number | null;
            source: string;
        };
        /** @description What an agent used of a model on a day. */
        UsageResponse: {
            agent_id: string | null;
            /** @description Null when the agent is gone. */
            agent_name: string | null;
            calls: number;
            completion_tokens: number;
            /** @description Millionths of the currency */
            cost_micros: number;
            /** @description In the workspace's time zone, as 2026-03-01. */
            day: string;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            model_id: string;
            model_name: string | null;
            prompt_tokens: number;
            /** @description Calls of which nobody knows what they cost. */
            unpriced_calls: number;
        };
        UserResponse: {
            /**
             * @description Milliseconds since 1970
             * @example 1789026600000
             */
            created_at: number;
            email: string;
            enabled: boolean;
            name: string;
            /** @enum {string} */
            role: "owner" | "admin" | "operator" | "viewer";
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            user_id: string;
        };
        /**
         * WakeRules
         * @description Whether a message is answered at all. Groups without rules answer whatever the route gives them.
         */
        WakeRules: {
            /**
             * @default {
             *       "mode": "deny",
             *       "entries": []
             *     }
             */
            access?: components["schemas"]["AccessRules"];
            groups?: components["schemas"]["GroupWake"] | null;
            /**
             * @default {
             *       "regexes": [],
             *       "prefixes": [],
             *       "bots": true
             *     }
             */
            ignore?: components["schemas"]["IgnoreRules"];
            /**
             * @default {
             *       "regexes": [],
             *       "always": true,
             *       "prefixes": []
             *     }
             */
            private?: components["schemas"]["PrivateWake"];
        };
        /**
         * WebhookBody
         * @example {
         *       "agent_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41",
         *       "name": "Pushes",
         *       "scheme": "github"
         *     }
         */
        WebhookBody: {
            /**
             * Agent Id
             * @default
             */
            agent_id?: string;
            /**
             * Bot Id
             * @default
             */
            bot_id?: string;
            /**
             * Enabled
             * @default true
             */
            enabled?: boolean;
            /** Name */
            name: string;
            /**
             * Scheme
             * @default standard
             * @enum {string}
             */
            scheme?: "standard" | "github";
            /** Secret */
            secret?: string | null;
        };
        WebhookCallResponse: {
            /** @description Whether this call had come before. */
            duplicate: boolean;
            event_id: string;
            seq: number;
        };
        WebhookResponse: {
            agent_id: string;
            bot_id: string;
            enabled: boolean;
            name: string;
            /** @description Where the other program calls */
            path: string;
            /** @enum {string} */
            scheme: "standard" | "github";
            /** @description The same below `http.public_url`; null where that is not set */
            url: string | null;
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            webhook_id: string;
        };
        /**
         * WordListBody
         * @example {
         *       "name": "Sensitive words",
         *       "words": [
         *         "secret"
         *       ]
         *     }
         */
        WordListBody: {
            /** Name */
            name: string;
            /**
             * Patterns
             * @default []
             */
            patterns?: string[];
            /**
             * Words
             * @default []
             */
            words?: string[];
        };
        WordListResponse: {
            /** @example 01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41 */
            list_id: string;
            name: string;
            patterns: string[];
            words: string[];
        };
        /**
         * WordsConfig
         * @description Words of a shared list, and further words.
         */
        WordsConfig: {
            /**
             * List Id
             * @default
             */
            list_id?: string;
            /**
             * Words
             * @default []
             */
            words?: string[];
        };
        /** WorkspaceBody */
        WorkspaceBody: {
            /** Command Prefixes */
            command_prefixes?: string[] | null;
            /** Command Roles */
            command_roles?: string[] | null;
            /** Currency */
            currency?: string | null;
            /** Language */
            language?: ("en" | "zh-Hans") | null;
            /** Outbound Ips */
            outbound_ips?: string[] | null;
            /** Time Zone */
            time_zone?: string | null;
        };
        WorkspaceResponse: {
            /** @description How chat commands begin; the first is the one that is told. */
            command_prefixes: string[];
            /** @description Who may use a command, as `NAME:ROLE`. */
            command_roles: string[];
            /** @description The code of the currency that costs are shown in; empty: that of the providers, where they agree. */
            currency: string;
            /**
             * @description In which the Host speaks to people whose own language it does not know.
             * @enum {string}
             */
            language: "en" | "zh-Hans";
            outbound_ips: string[];
            time_zone: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    list_adapters: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_AdapterManifest_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_adapter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdapterManifest"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_agents: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_AgentResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_agent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentBody"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_agent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replace_agent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentChange"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_agent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_messages: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
                /** @description Which come first */
                order?: "oldest" | "newest";
            };
            header?: never;
            path: {
                agent_id: string;
                session: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_TranscriptItemResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    reset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agent_id: string;
                session: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewConversationResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    broadcast: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BroadcastBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BroadcastResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_connections: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_ConnectionResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_sessions: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path: {
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_SessionResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    test_agent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentTestBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentTestResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_keys: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_ApiKey_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_key: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewKey"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKey"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    revoke_key: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_approvals: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
                status?: ("pending" | "approved" | "denied" | "expired") | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_ApprovalResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_approval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                approval_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    decide: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                approval_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DecisionBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_artifact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                artifact_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArtifactResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_content: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                artifact_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The whole */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            /** @description The range that was asked for */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            /** @description It is what the caller has already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_entries: {
        parameters: {
            query?: {
                action?: string | null;
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                kind?: ("access" | "admin" | "runtime" | "box" | "memory" | "door") | null;
                /** @description How many items at most */
                limit?: number;
                run_id?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_AuditEntry_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    log_in: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Credentials"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionUserResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    log_out: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionUserResponse"] | components["schemas"]["KeyPrincipalResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    change_me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OwnAccount"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionUserResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_setup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetupState"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    set_up: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirstOwner"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionUserResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_bots: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_BotResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_bot: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BotBody"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BotResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_bot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BotResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replace_bot: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                bot_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BotChange"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BotResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_bot: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                bot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_bot_addresses: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BotAddresses"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    check_bot_address: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallbackCheckResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    begin_bot_login: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    continue_bot_login: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bot_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoginContinuation"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_bot_preview: {
        parameters: {
            query?: {
                chat_id?: string;
                chat_type?: "private" | "group";
            };
            header?: never;
            path: {
                bot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreviewConversation"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    preview_bot: {
        parameters: {
            query?: {
                /** @description Seconds to wait */
                timeout?: number;
                /** @description Answer when the event is settled */
                wait?: "result" | null;
            };
            header?: never;
            path: {
                bot_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreviewBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventResult"];
                };
            };
            /** @description A good answer */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcceptedEvent"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_routes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bot_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_RouteResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replace_routes: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                bot_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RouteBody"][] | components["schemas"]["RoutePage"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_RouteResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    try_routes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bot_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DryRunBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DryRun"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_box_audit: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
                run_id?: string | null;
                session_id?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_BoxAuditResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_box_errors: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_BoxErrorResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_box_sessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_BoxSessionResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    end_box_session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_box_files: {
        parameters: {
            query?: {
                path?: string;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BoxFilesResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_box_status: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BoxStatusResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    test_box: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BoxTestResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    try_command: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TryCommandBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriedCommandResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_budgets: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_BudgetResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_budget: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BudgetBody"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_budget: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                budget_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replace_budget: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                budget_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BudgetBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_budget: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                budget_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_conversations: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
                /** @description Part of what was said in it, or of a sender's name or id */
                q?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_ConversationResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    reset_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewConversationResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_transcript: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
                /** @description Which come first */
                order?: "oldest" | "newest";
                q?: string | null;
            };
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_TranscriptItemResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_default_agents: {
        parameters: {
            query?: {
                /** @description Only those of this bot's chats */
                bot_id?: string | null;
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_DefaultAgentResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    set_default_agent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DefaultAgentBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DefaultAgentResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    remove_default_agent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                default_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_events: {
        parameters: {
            query?: {
                bot_id?: string | null;
                conversation_id?: string | null;
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
                type?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_EventResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    inject_event: {
        parameters: {
            query?: {
                /** @description Seconds to wait */
                timeout?: number;
                /** @description Answer when the event is settled */
                wait?: "result" | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EventBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventResult"];
                };
            };
            /** @description A good answer */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcceptedEvent"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    explain_event: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trail"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_feedback: {
        parameters: {
            query?: {
                agent_id?: string | null;
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_FeedbackResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    upload_file: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /** Format: binary */
                    file: string;
                    /** @description Believed where the content does not tell */
                    mime_type?: string;
                };
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadedFileResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadedFileResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_hosts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_HostResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    drain_host: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resume_host: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_info: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Info"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_jobs: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description Only jobs of this kind, such as `webhook` */
                kind?: string | null;
                /** @description How many items at most */
                limit?: number;
                state?: ("pending" | "running" | "done" | "failed" | "cancelled") | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_JobResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    cancel_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    retry_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_knowledge_bases: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_KnowledgeBaseResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_knowledge_base: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KnowledgeBaseBody"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeBaseResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_knowledge_base: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                kb_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeBaseResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replace_knowledge_base: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                kb_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KnowledgeBaseBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeBaseResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_knowledge_base: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                kb_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_knowledge_files: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path: {
                kb_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_KnowledgeFileResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    add_knowledge_file: {
        parameters: {
            query?: {
                /** @description Replaces the file of this name, which can be found until then */
                replace?: boolean;
            };
            header?: never;
            path: {
                kb_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** Artifact Id */
                    artifact_id?: string | null;
                    /** Chunker */
                    chunker?: ("general" | "qa" | "rows") | null;
                    /**
                     * Metadata
                     * @default {}
                     */
                    metadata?: {
                        [key: string]: unknown;
                    };
                    /** Name */
                    name?: string | null;
                    /** Parser */
                    parser?: string | null;
                    /** Refresh Days */
                    refresh_days?: number | null;
                    /** Text */
                    text?: string | null;
                    /** Url */
                    url?: string | null;
                };
                "multipart/form-data": {
                    /** @enum {string} */
                    chunker?: "general" | "qa" | "rows";
                    /** Format: binary */
                    file: string;
                    /** @description A JSON object that searches can filter by */
                    metadata?: string;
                    /** @description `author/plugin.parser`, or `builtin` */
                    parser?: string;
                };
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeFileResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_knowledge_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: string;
                kb_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeFileResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_knowledge_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: string;
                kb_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_knowledge_chunks: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path: {
                file_id: string;
                kb_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_ChunkResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    add_knowledge_chunk: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: string;
                kb_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewChunkBody"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChunkResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_knowledge_chunk: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chunk_id: string;
                file_id: string;
                kb_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChunkResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    change_knowledge_chunk: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chunk_id: string;
                file_id: string;
                kb_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChunkChangeBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChunkResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_knowledge_file_content: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: string;
                kb_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    retry_knowledge_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: string;
                kb_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeFileResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    reembed_knowledge_base: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                kb_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeBaseResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    search_knowledge_base: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                kb_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_knowledge_engines: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EngineListResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_knowledge_parsers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ParserListResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_knowledge_stores: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoreListResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_mcp_servers: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_McpServerResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_mcp_server: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpServerBody"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServerResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_mcp_server: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                server_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServerResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replace_mcp_server: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                server_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpServerBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServerResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_mcp_server: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                server_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_prompt_of_mcp_server: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                server_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PromptBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpContent"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_resource_of_mcp_server: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                server_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResourceBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpContent"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    test_mcp_server: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                server_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["McpServerBody"] | null;
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpStatus"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    test_mcp_server_before_saving: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpServerBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpStatus"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_memories: {
        parameters: {
            query?: {
                agent_id?: string | null;
                bot_id?: string | null;
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
                owner_id?: string | null;
                owner_type?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_MemoryResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_memories_of_owner: {
        parameters: {
            query: {
                owner_id: string;
                owner_type: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_memory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    change_memory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemoryChange"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    check_message_policy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolicyCheckBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyCheck"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_kinds: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_ModelKind_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_providers: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_ProviderResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_provider: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProviderBody"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_provider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                provider_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replace_provider: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                provider_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProviderBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_provider: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                provider_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_models: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
                provider_id?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_ModelResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_model: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelBody"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_model: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replace_model: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                model_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_model: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    test_model: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelTestResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_parts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_PartResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    move_part: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                part: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PartMove"];
            };
        };
        responses: {
            /** @description A good answer */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PartResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_pipelines: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_PipelineResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_pipeline: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PipelineBody"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PipelineResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_pipeline: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                pipeline_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PipelineResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replace_pipeline: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                pipeline_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PipelineChange"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PipelineResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_pipeline: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                pipeline_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    copy_pipeline: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                pipeline_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PipelineResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    try_pipeline: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                pipeline_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PipelineDryRunBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PipelineDryRun"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_pipeline_preview: {
        parameters: {
            query?: {
                chat_id?: string;
                chat_type?: "private" | "group";
            };
            header?: never;
            path: {
                pipeline_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreviewConversation"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    preview_pipeline: {
        parameters: {
            query?: {
                /** @description Seconds to wait */
                timeout?: number;
                /** @description Answer when the event is settled */
                wait?: "result" | null;
            };
            header?: never;
            path: {
                pipeline_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreviewBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventResult"];
                };
            };
            /** @description A good answer */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcceptedEvent"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_plugins: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_PluginResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_plugin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                author: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    change_plugin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                author: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    remove_plugin: {
        parameters: {
            query?: {
                data?: "keep" | "delete";
            };
            header?: never;
            path: {
                author: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_plugin_config: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                author: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginConfigResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    change_plugin_config: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                author: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PluginConfigBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginConfigResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_log: {
        parameters: {
            query?: {
                /** @description How many of the last lines at most */
                limit?: number;
            };
            header?: never;
            path: {
                author: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_str_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_plugin_pages: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                author: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_PluginPageResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    call_plugin_page: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                author: string;
                name: string;
                page: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PageCallBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageCallResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_plugin_page: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                author: string;
                name: string;
                page: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": unknown;
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_programs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                author: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_PluginProgramResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    restart_plugin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                author: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_bundled_plugins: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_BundledPluginResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    install_plugin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** Granted */
                    granted?: string[] | null;
                    /**
                     * Source
                     * @description A folder, a zip file, a git address or bundled:NAME
                     */
                    source: string;
                    /**
                     * Upgrade
                     * @description Refuses anything but a new version of this plugin
                     */
                    upgrade?: string | null;
                };
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A zip of the plugin's folder
                     */
                    file: string;
                    /** @description A JSON list of permissions */
                    granted?: string;
                    upgrade?: string;
                };
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_runners: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_Runner_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_runs: {
        parameters: {
            query?: {
                /** @description Id of the sender, exactly. Two platforms may use the same id: add `bot_id` */
                actor?: string | null;
                agent_id?: string | null;
                /** @description Empty for runs without a bot: web chat and API */
                bot_id?: string | null;
                conversation_id?: string | null;
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
                /** @description Part of an answer, of the sender's name or id, or of how the text begins that the run answers */
                q?: string | null;
                /** @description Milliseconds since 1970 */
                since?: number | null;
                status?: ("created" | "queued" | "claimed" | "running" | "waiting_approval" | "completed" | "failed" | "cancelled" | "timeout") | null;
                /** @description Milliseconds since 1970 */
                until?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_RunListItem_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDetail"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    cancel_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_deliveries: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_DeliveryResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_run_events: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_RunEventResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_model_call: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                call_id: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelCallResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replay_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    rerun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RerunBody"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_runtimes: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_RuntimeResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    revoke_runtime: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                runtime_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_queue: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_QueuedRunResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_schedules: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_ScheduleResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScheduleBody"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replace_schedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScheduleBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_schedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_settings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingsResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    change_settings: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettingsBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingsResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_skills: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_SkillResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_skill: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSkillBody"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillDetailResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_skill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillDetailResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replace_skill: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SkillChangeBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillDetailResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_skill: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_skill_files: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_SkillFileEntry_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_skill_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillFileResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    write_skill_file: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                name: string;
                path: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SkillFileBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillDetailResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_skill_file: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                name: string;
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillDetailResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    install_skills: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Replace
                     * @default false
                     */
                    replace?: boolean;
                    /**
                     * Source
                     * @default
                     */
                    source?: string;
                    /** Source Paths */
                    source_paths?: string[] | null;
                    /**
                     * Source Subdir
                     * @default
                     */
                    source_subdir?: string;
                    /**
                     * Target Suffix
                     * @default
                     */
                    target_suffix?: string;
                };
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A zip of skills
                     */
                    file: string;
                    replace?: string;
                    source_paths?: string;
                    source_subdir?: string;
                    target_suffix?: string;
                };
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstalledSkillsResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    preview_skills: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Source
                     * @default
                     */
                    source?: string;
                    /**
                     * Source Subdir
                     * @default
                     */
                    source_subdir?: string;
                    /**
                     * Target Suffix
                     * @default
                     */
                    target_suffix?: string;
                };
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A zip of skills
                     */
                    file: string;
                    source_subdir?: string;
                    target_suffix?: string;
                };
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillPreviewResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_stats: {
        parameters: {
            query?: {
                /** @description How far to look back */
                hours?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stats"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_usage: {
        parameters: {
            query?: {
                /** @description How far to look back */
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_UsageResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_tools: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_ToolDetail_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_users: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_UserResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_user: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewUser"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_user: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    change_user: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangedUser"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_user: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_webhooks: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_WebhookResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_webhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookBody"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewWebhook"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_webhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replace_webhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_webhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    call_webhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookCallResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_word_lists: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string | null;
                /** @description How many items at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageResponse_WordListResponse_"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_word_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WordListBody"];
            };
        };
        responses: {
            /** @description A good answer */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WordListResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_word_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                list_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WordListResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replace_word_list: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                list_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WordListBody"];
            };
        };
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WordListResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_word_list: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile */
                "If-Match"?: string | null;
            };
            path: {
                list_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    healthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": unknown;
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A good answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadinessResponse"];
                };
            };
            /** @description A good answer */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadinessResponse"];
                };
            };
            /** @description What went wrong, in words */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
